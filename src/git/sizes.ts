/** The sizes of the files of a commit. */
import { gitStream } from './command.ts';
import { fullId } from './ids.ts';
import type { Environment, Repository } from './types.ts';

export interface FileSize {
  /** Bytes that are not UTF-8 are replaced. */
  path: string;
  size_bytes: number;
}

/**
 * The files of a commit or tree, without links and submodules, in git's order. Throws `GitError` when the id is neither.
 * @param env the quarantine of a push that brings the commit
 */
export async function* fileSizes(repository: Repository, id: string, env: Environment = {}): AsyncGenerator<FileSize> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of gitStream(repository, 'ls-tree', ['-r', '-l', '-z', '--full-tree'], [fullId(id)], [], {
    reader: 'server',
    env,
  })) {
    const read = Buffer.concat([rest, chunk]);
    let at = 0;
    for (let end = read.indexOf(0); end >= 0; end = read.indexOf(0, at)) {
      const file = fileIn(read.toString('utf8', at, end));
      if (file) yield file;
      at = end + 1;
    }
    rest = read.subarray(at);
  }
}

/** `<mode> <type> <id> <size>`, padded with spaces, a tab, and the path. */
function fileIn(line: string): FileSize | undefined {
  const [, size, path] = /^100\d{3} blob \w+ +(\d+)\t(.+)$/s.exec(line) ?? [];
  return path === undefined ? undefined : { path, size_bytes: Number(size) };
}
