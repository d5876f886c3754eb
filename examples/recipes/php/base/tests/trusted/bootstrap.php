<?php

declare(strict_types=1);

spl_autoload_register(static function (string $name): void {
    if (str_starts_with($name, 'Shop\\')) {
        require __DIR__ . '/../../src/' . strtr(substr($name, 5), '\\', '/') . '.php';
    }
});
