"""List the files that the chat's @ offers and match a word; print the CPU time of both.

Run by `bench.growth_rows.files`: probe_mentions.py FOLDER
"""

import json
import sys
import time

from hermes_acp.frontends.chat.input.file_mentions import files_below, matching

if __name__ == "__main__":
    begun = time.process_time()
    paths = files_below(sys.argv[1])
    listed = time.process_time()
    matching(paths, "f99", 20)
    matched = time.process_time()
    print(json.dumps({"list_s": listed - begun, "match_s": matched - listed, "paths": len(paths)}))
