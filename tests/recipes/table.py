"""What each recipe needs, and which lines of its patch stay open when trusted tests alone are believed."""

from __future__ import annotations

from typing import Final

from tests.recipes.recipe import Lines, Marker, Recipe

_GCC: Final = ("gcc --version", "g++ --version", "make --version")
_NATIVE: Final[Lines] = {"src/freight.c": (5, 6, 13), "src/label.cpp": (7,)}
_NODE: Final[Lines] = {"src/freight.js": (7, 13, 14)}
_TYPESCRIPT: Final[Lines] = {"src/freight.ts": (5, 11, 12)}
_TYPESCRIPT_RETURN: Final = "    return cents + handling(grams);"
_JARS: Final = ("junit4", "hamcrest", "org.jacoco.agent.rt", "org.jacoco.ant", "org.jacoco.core", "org.jacoco.report")
_JACOCO: Final = ("ant -version", *(f"test -f /usr/share/java/{name}.jar" for name in _JARS))
_TRUSTED_XML: Final = ("java/base/trusted.xml",)


def _script(marker: str, path: str, lines: tuple[int, ...]) -> Marker:
    """A comment on a line of its own before the ``if``, which moves everything below it."""
    return Marker(path, "  if (grams", f"  {marker}\n  if (grams", {path: lines})


def _native(settings: str, tools: tuple[str, ...], *, marker: str = "", leftovers: tuple[str, ...] = ()) -> Recipe:
    export = {"gcov": "gcov.json", "gcovr": "gcovr.json", "lcov": "lcov.info", "llvm-cov": "llvm-cov.json"}[settings]
    text = "return cents + handling(grams);"
    return Recipe(
        project="c-cpp",
        settings=settings,
        kind=settings,
        needs=tools,
        owed=10,
        open=_NATIVE,
        generated=f"make SUITE=tests/generated build/{export}",
        marker=Marker("src/freight.c", text, f"{text} // {marker}", _NATIVE) if marker else None,
        leftovers=leftovers,
    )


RECIPES: Final = (
    Recipe(
        project="vitest",
        settings="v8",
        kind="istanbul",
        needs=("node --version", "npm --version"),
        owed=6,
        open=_TYPESCRIPT,
        generated="npx --no-install vitest run --dir tests/generated",
        marker=_script("/* v8 ignore next 3 */", "src/freight.ts", (6, 12, 13)),
    ),
    Recipe(
        project="vitest",
        settings="istanbul",
        kind="istanbul",
        needs=("node --version", "npm --version"),
        owed=6,
        open=_TYPESCRIPT,
        generated="npx --no-install vitest run --dir tests/generated",
        marker=_script("/* istanbul ignore if */", "src/freight.ts", (6, 12, 13)),
    ),
    Recipe(
        project="node",
        settings="c8",
        kind="istanbul",
        needs=("node --version", "npm --version"),
        owed=6,
        open=_NODE,
        generated="node --test tests/generated/*.test.js",
        marker=_script("/* c8 ignore next 3 */", "src/freight.js", (7, 8, 14, 15)),
    ),
    Recipe(
        project="node",
        settings="nyc",
        kind="istanbul",
        needs=("node --version", "npm --version"),
        owed=6,
        open=_NODE,
        generated="npx --no-install nyc --no-clean --reporter json node --test tests/generated/*.test.js",
        marker=_script("/* istanbul ignore if */", "src/freight.js", (8, 14, 15)),
        leftovers=(".nyc_output/*.json",),
    ),
    Recipe(
        project="node",
        settings="node",
        kind="lcov",
        needs=("node --test-reporter=lcov --version", "npm --version"),
        owed=6,
        open=_NODE,
        generated="node --test tests/generated/*.test.js",
        marker=_script("/* node:coverage ignore next 3 */", "src/freight.js", (7, 8, 14, 15)),
    ),
    Recipe(
        project="java",
        settings="jacoco",
        kind="jacoco",
        needs=("javac -version", *_JACOCO),
        owed=6,
        open={"src/shop/Freight.java": (11, 17, 18)},
        generated="ant -noinput -q -Dsuite=tests/generated",
        marker=Marker(
            "src/shop/Freight.java",
            "    private static int handling",
            "    @interface Generated {}\n    @Generated private static int handling",
            {"src/shop/Freight.java": (11, 18, 19)},
        ),
        leftovers=("build/jacoco.exec",),
    ),
    Recipe(
        project="kotlin",
        settings="jacoco",
        kind="jacoco",
        needs=("command -v kotlinc", "test -f /usr/share/java/kotlin-stdlib.jar", *_JACOCO),
        owed=7,
        open={"src/shop/Freight.kt": (8, 14, 15)},
        generated="ant -noinput -q -Dsuite=tests/generated",
        marker=Marker(
            "src/shop/Freight.kt",
            "private fun handling",
            "annotation class Generated\n\n@Generated\nprivate fun handling",
            {"src/shop/Freight.kt": (8, 17, 18)},
        ),
        shared=_TRUSTED_XML,
    ),
    Recipe(
        project="scala",
        settings="jacoco",
        kind="jacoco",
        needs=("command -v scalac", "test -f /usr/share/java/scala-library.jar", *_JACOCO),
        owed=8,
        open={"src/shop/Freight.scala": (9, 16, 17)},
        generated="ant -noinput -q -Dsuite=tests/generated",
        shared=_TRUSTED_XML,
    ),
    Recipe(
        project="go",
        settings="go",
        kind="go",
        needs=("go version",),
        owed=6,
        open={"freight/freight.go": (8, 14, 15)},
        generated="go test ./tests/generated/...",
    ),
    _native("gcov", (*_GCC, "gcov --version"), leftovers=("build/gcc/src/*.gcda",)),
    _native("gcovr", (*_GCC, "gcovr --version"), marker="GCOVR_EXCL_LINE"),
    _native("lcov", (*_GCC, "lcov --version"), marker="LCOV_EXCL_LINE"),
    _native(
        "llvm-cov",
        ("make --version", "clang++ --version", 'ls "$(clang -print-resource-dir)"/lib/*/libclang_rt.profile*'),
        leftovers=("build/clang/*.profraw", "build/clang/*.profdata"),
    ),
    Recipe(
        project="rust",
        settings="llvm-cov",
        kind="llvm-cov",
        needs=("cargo --version", "ls $(rustc --print target-libdir)/../bin/llvm-cov"),
        owed=6,
        open={"src/lib.rs": (6, 12, 13)},
        generated=(
            'RUSTFLAGS="-C instrument-coverage" LLVM_PROFILE_FILE="$PWD/target/trusted-%p.profraw"'
            " cargo test --offline --locked --test generated"
        ),
        leftovers=("target/*.profraw",),
    ),
    Recipe(
        project="ruby",
        settings="simplecov",
        kind="simplecov",
        needs=('ruby -e \'require "simplecov"; require "minitest"\'',),
        owed=6,
        open={"lib/freight.rb": (6, 12, 13)},
        generated="ruby -Ilib tests/generated/freight_test.rb",
        marker=Marker(
            "lib/freight.rb",
            "      return cents + handling(grams)\n",
            "      # :nocov:\n      return cents + handling(grams)\n      # :nocov:\n",
            {"lib/freight.rb": (7, 14, 15)},
        ),
    ),
    Recipe(
        project="php",
        settings="pcov",
        kind="clover",
        needs=("phpunit --version", "php -r 'exit(extension_loaded(\"pcov\") ? 0 : 1);'"),
        owed=6,
        open={"src/Freight.php": (14, 21, 22)},
        generated="phpunit --no-configuration --bootstrap tests/trusted/bootstrap.php tests/generated",
        marker=Marker(
            "src/Freight.php",
            "return $cents + self::handling($grams);",
            "return $cents + self::handling($grams); // @codeCoverageIgnore",
            {"src/Freight.php": (14, 21, 22)},
        ),
    ),
)
