/** Searching the files of a commit. */
import { GitError, git } from './command.ts';
import { fullId } from './ids.ts';
import type { Repository } from './types.ts';

/**
 * The paths of the text files of a commit with a line that begins with `text`.
 * @param text letters, digits, blanks and punctuation that is not an operator of basic regular expressions
 */
export async function filesContaining(repository: Repository, commit: string, text: string): Promise<string[]> {
  const id = fullId(commit);
  try {
    const output = await git(repository, 'grep', ['-I', '-l', '-z', '--full-name', `-e^${text}`], [id]);
    return output
      .toString('utf8')
      .split('\0')
      .slice(0, -1)
      .map((name) => name.slice(id.length + 1));
  } catch (error) {
    if (error instanceof GitError && error.exit_code === 1) return []; // none
    throw error;
  }
}
