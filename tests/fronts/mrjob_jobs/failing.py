"""Fails where it is told to."""

from mrjob.job import MRJob


class Failing(MRJob):
    def configure_args(self):
        super().configure_args()
        self.add_passthru_arg("--where", default="")
        self.add_file_arg("--side")

    def mapper(self, _, line):
        if self.options.where == "mapper" and "bad" in line:
            raise ValueError(f"cannot read {line}")
        yield line, 1

    def reducer(self, line, ones):
        if self.options.where == "reducer" and "bad" in line:
            raise ValueError(f"cannot reduce {line}")
        yield line, sum(ones)


if __name__ == "__main__":
    Failing.run()
