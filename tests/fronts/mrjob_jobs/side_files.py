"""Side files of all kinds, a neighbour module, an option that goes through, a variable, counters."""

import os

import neighbour
from mrjob.compat import jobconf_from_env
from mrjob.job import MRJob


class SideFiles(MRJob):
    FILES = ["stop.txt"]
    DIRS = ["tables"]
    JOBCONF = {"my.job.setting": "from the job"}

    def configure_args(self):
        super().configure_args()
        self.add_passthru_arg("--suffix", default="!")
        self.add_file_arg("--more")

    def mapper_init(self):
        with open("stop.txt") as file:
            self.stop = set(file.read().split())
        with open(os.path.join("tables", "names.txt")) as file:
            self.names = dict(line.split() for line in file)
        if self.options.more:
            with open(self.options.more) as file:
                self.stop |= set(file.read().split())
        if os.path.exists("extra.txt"):
            with open("extra.txt") as file:
                self.stop |= set(file.read().split())

    def mapper(self, _, line):
        for word in line.split():
            if word in self.stop:
                self.increment_counter("words", "stopped", 1)
                continue
            self.increment_counter("words", "kept")
            yield neighbour.clean(self.names.get(word, word)) + self.options.suffix, 1

    def combiner(self, word, counts):
        yield word, sum(counts)

    def reducer(self, word, counts):
        self.increment_counter("keys", "reduced, all")
        yield word, [sum(counts), jobconf_from_env("my.job.setting"), os.environ.get("MY_VARIABLE")]


if __name__ == "__main__":
    SideFiles.run()
