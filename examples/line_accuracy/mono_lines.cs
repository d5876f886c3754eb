// The lines of which Mono's C# compiler makes sequence points. Reads names of debug tables; nothing runs.
//
//     mcs -debug -target:library -out:x.dll -recurse:'src/*.cs'
//     mcs -r:Mono.CompilerServices.SymbolWriter.dll mono_lines.cs && mono mono_lines.exe x.dll.mdb > csharp.jsonl
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Mono.CompilerServices.SymbolWriter;

static class MonoLines
{
    static void Main(string[] tables)
    {
        var found = new SortedDictionary<string, SortedSet<int>>(StringComparer.Ordinal);
        foreach (var name in tables)
            using (var table = MonoSymbolFile.ReadSymbolFile(name))
                foreach (var method in table.Methods)
                    Add(found, table, method);
        foreach (var file in found.Where(each => File.Exists(each.Key)))
        {
            var count = File.ReadAllBytes(file.Key).Count(each => each == '\n') + 1;
            var lines = file.Value.Where(line => line <= count);
            Console.WriteLine("{{\"f\": \"{0}\", \"lines\": [{1}], \"within\": [{2}]}}",
                file.Key, string.Join(", ", lines), string.Join(", ", Enumerable.Range(1, count)));
        }
    }

    // A constructor runs the initialisers of fields, which may stand in another file of a partial class.
    static void Add(IDictionary<string, SortedSet<int>> found, MonoSymbolFile table, MethodEntry method)
    {
        foreach (var entry in method.GetLineNumberTable().LineNumbers.Where(each => !each.IsHidden))
        {
            var file = table.GetSourceFile(entry.File).FileName;
            if (!found.ContainsKey(file))
                found[file] = new SortedSet<int>();
            found[file].Add(entry.Row);
        }
    }
}
