# The lines of which Ruby tells a tracer. Reads names of files: find lib -name "*.rb" | ruby ruby_lines.rb > ruby.jsonl
require "json"
def lines(iseq, into)
  iseq.trace_points.each { |line, event| into << line if event == :line }
  iseq.each_child { |child| lines(child, into) }
end
ARGF.each_line(chomp: true) do |path|
  begin
    found = []
    lines(RubyVM::InstructionSequence.compile_file(path), found)
    count = File.read(path, mode: "rb").count("\n") + 1
    puts JSON.dump(f: path, lines: found.uniq.sort, within: (1..count).to_a)
  rescue SyntaxError, SystemCallError => error
    warn "#{path}: #{error.message.lines.first}"
  end
end
