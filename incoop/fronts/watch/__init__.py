"""Jobs that are kept current: run again whenever their input, or their code, is not what it was.

decide.py         what is done at a look, when the next one is, what is said: pure
job_files.py      the jobs that files define, loaded again when a file was edited
json_lines.py     changed keys as JSON
after_run.py      what happens after a run: part files, changed keys, a command
shell_command.py  a command that ends with us
stop.py           signals, as one exception at a moment that leaves nothing behind
loop.py           the loop, which acts

Imports the session, results, `common` and the rooms below.
"""
