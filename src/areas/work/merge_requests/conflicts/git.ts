/** The files in which the branches of a merge request conflict. */
import {
  blobSize,
  entryAt,
  mergeCommits,
  type Repository,
  readBlob,
  repositoryOf,
  writeTreeCommit,
} from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import type { MergeFacts } from '../branch_queries.ts';
import { checkBranches } from '../merging/status_git.ts';

export interface ConflictingFile {
  path: string;
  /** The text with both sides between marks; null if it is no text, too long, or gone on one side. */
  text: string | null;
  /** The text in the source and in the target branch. */
  source_text: string | null;
  target_text: string | null;
}

export interface Conflicts {
  source_head: string;
  target_head: string;
  files: ConflictingFile[];
  /** Whether further files conflict. */
  has_more: boolean;
}

const maximumFiles = 20;
const maximum_bytes = 200 * 1024;

/** A line that begins or ends a conflict. */
const markLine = /^(?:<{7}|>{7}) /m;

/** Whether a text has a conflict that is not resolved. */
export const hasMarks = (text: string): boolean => markLine.test(text);

/** The author of the commit that only carries the files with marks; it is the same for the same files. */
const nobody = { name: 'Coppice', email: 'coppice', date: new Date(0) };

/** A commit of the files with marks, which nothing refers to. */
export const markedCommit = (repository: Repository, tree_id: string): Promise<string> =>
  writeTreeCommit(repository, { tree_id, parent_ids: [], message: '', author: nobody, committer: nobody });

/** A file of a commit as text; null if it is missing, long or no text. */
async function textAt(repository: Repository, commit: string, path: string): Promise<string | null> {
  const entry = await entryAt(repository, commit, path);
  if (entry?.type !== 'blob' || (await blobSize(repository, entry.id)) > maximum_bytes) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readBlob(repository, entry.id));
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/** Merges the target branch into the source branch. @returns undefined if they do not conflict */
export async function conflictsOf(
  services: Pick<Services, 'storages'>,
  facts: MergeFacts,
): Promise<Conflicts | undefined> {
  const { source_head, target_head, fit } = await checkBranches(services, facts);
  if (source_head === undefined || target_head === undefined || fit !== 'conflict') return undefined;
  const repository = repositoryOf(services, facts.target);
  const merge = await mergeCommits(repository, { ours: source_head, theirs: target_head });
  if (!merge.conflicts) return undefined;
  const { conflicts, marked_tree_id } = merge;
  const marked = marked_tree_id && (await markedCommit(repository, marked_tree_id));
  const named = (text: string | null) =>
    text
      ?.replaceAll(`<<<<<<< ${source_head}`, `<<<<<<< ${facts.source_branch}`)
      .replaceAll(`>>>>>>> ${target_head}`, `>>>>>>> ${facts.target_branch}`) ?? null;
  const files = conflicts.slice(0, maximumFiles).map(async (path) => {
    const [text, source_text, target_text] = await Promise.all([
      marked ? textAt(repository, marked, path) : null,
      textAt(repository, source_head, path),
      textAt(repository, target_head, path),
    ]);
    const isMarked = text !== null && hasMarks(text);
    return { path, text: isMarked ? named(text) : null, source_text, target_text };
  });
  return { source_head, target_head, files: await Promise.all(files), has_more: conflicts.length > maximumFiles };
}
