/** Limits on the repository of a snippet, and the checks of pushes to it (docs/reference/snippets.md#limits). */
import {
  countObjects,
  type FileSize,
  fileSizes,
  type Push,
  pathProblem,
  type RefUpdate,
  type Repository,
} from '../../../git/index.ts';
import { sizeText } from '../../../texts/index.ts';

export const maximumFiles = 10;
const maximumPath = 255;

export const tooManyFiles = `The repository can contain at most ${maximumFiles} file(s).`;
export const noFile = 'The repository must contain at least 1 file.';
const fixedBranch = 'You can not create or delete branches.';

/** The reasons for refusing the content of a file in a snippet, empty if it is valid. A limit of 0 means no limit. */
export const contentReasons = (size_bytes: number, limit_bytes: number): string[] =>
  limit_bytes > 0 && size_bytes > limit_bytes
    ? [`is too long (${sizeText(size_bytes)}). The maximum size is ${sizeText(limit_bytes)}.`]
    : [];

/** The reasons for refusing the path of a file in a snippet, empty if it is valid. */
export const pathReasons = (path: string): string[] =>
  path.length > maximumPath ? [`is too long (maximum is ${maximumPath} characters)`] : [];

/** The reasons for refusing a repository of `size_bytes`, empty if it is within the limit. */
export const repositoryReasons = (size_bytes: number, limit_bytes: number): string[] =>
  limit_bytes > 0 && size_bytes > limit_bytes
    ? [`The repository would have ${sizeText(size_bytes)}. The maximum size is ${sizeText(limit_bytes)}.`]
    : [];

/** The files of a commit, at most one more than the limit of a snippet. */
async function someFiles(repository: Repository, commit: string, env: Push['quarantine']): Promise<FileSize[]> {
  const files: FileSize[] = [];
  for await (const file of fileSizes(repository, commit, env)) {
    files.push(file);
    if (files.length > maximumFiles) break;
  }
  return files;
}

/**
 * The reasons for refusing a push to a snippet, each once; empty if it is accepted.
 * @param branch the only branch
 * @param limit_bytes the limit of each file, and of the repository
 */
export async function snippetRefusals(
  repository: Repository,
  { updates, quarantine }: Pick<Push, 'updates' | 'quarantine'>,
  { branch, limit_bytes }: { branch: string; limit_bytes: number },
): Promise<string[]> {
  const [update, ...others] = updates;
  if (others.length > 0 || !isMove(update, branch)) return [fixedBranch];
  const files = await someFiles(repository, update.new, quarantine);
  if (files.length > maximumFiles) return [tooManyFiles];
  if (files.length === 0) return [noFile];
  const [before, added] = await Promise.all([countObjects(repository), countObjects(repository, quarantine)]);
  const reasons = [
    ...files.flatMap(({ path }) => (isUsable(path) ? [] : [`invalid path: '${path}'`])),
    ...files.flatMap(({ path }) => pathReasons(path).map((reason) => `File name ${reason}`)),
    ...files.flatMap(({ size_bytes }) => contentReasons(size_bytes, limit_bytes).map((reason) => `Content ${reason}`)),
    ...repositoryReasons(before.size_bytes + added.size_bytes, limit_bytes),
  ];
  return [...new Set(reasons)];
}

/** Whether an update moves the branch of the snippet from one commit to another. */
const isMove = (update: RefUpdate | undefined, branch: string): update is RefUpdate & { new: string } =>
  update !== undefined && update.ref === `refs/heads/${branch}` && update.old !== null && update.new !== null;

/** Requests name files by path, so paths must be text. Invalid bytes have been replaced. */
const isUsable = (path: string) => pathProblem(path) === undefined && !path.includes('\ufffd');
