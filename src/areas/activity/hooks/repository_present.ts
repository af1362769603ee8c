/** The repository data in bodies: commits, pushes and texts, read with git. */
import { Type } from 'typebox';
import { commitKind, userPage } from '../../../access/index.ts';
import {
  blobSize,
  type Commit,
  changedFiles,
  countCommits,
  GitError,
  listCommits,
  type Repository,
  readBlob,
  readCommit,
  readTag,
  repositoryOf,
  resolveBranch,
} from '../../../git/index.ts';
import { nullable, resource, Timestamp } from '../../../http/index.ts';
import type { Filling, RepositoryKind } from '../../../services/index.ts';
import { ownersOfAddresses } from '../../people/emails/index.ts';

/** A repository of a project, or of an owner of another kind. */
interface Owned {
  id: number;
  kind?: RepositoryKind['name'];
}

/** A repository of a project. */
export interface ProjectPlace extends Owned {
  full_path: string;
}

/** A ref that was updated. */
export interface Pushed {
  place: ProjectPlace & { default_branch: string };
  ref: string;
  before: string | null;
  after: string | null;
  /** Whether commits are listed. */
  lists: boolean;
}

/**
 * A repository at its current location: a snapshot may wait for long, and the storage may change in the meantime. Undefined
 * if it was deleted.
 */
async function repositoryNow(
  services: Filling,
  { id, kind: name = 'project' }: Owned,
): Promise<Repository | undefined> {
  const kind = services.repositories.kinds.find((each) => each.name === name)!;
  const owner = await kind.find(services.db, id);
  return owner && repositoryOf(services, { ...owner, folder: kind.folder });
}

/** The members of a commit. */
const commit = {
  id: Type.String(),
  message: Type.String(),
  title: Type.String(),
  timestamp: Timestamp,
  url: Type.String({ format: 'uri' }),
  author: Type.Object({ name: Type.String(), email: Type.String() }),
};
export const HookCommit = resource('HookCommit', commit);

const presentCommit = ({ url }: Filling, { full_path }: ProjectPlace, commit: Commit) => ({
  id: commit.id,
  message: commit.message,
  title: commit.title,
  timestamp: commit.authored_date,
  url: url + commitKind.page(full_path, commit.id),
  author: { name: commit.author_name, email: commit.author_email },
});

/** A commit of a project; null if its repository no longer has it, or none is given. */
export async function oneCommit(services: Filling, place: ProjectPlace, sha: string | null) {
  if (sha === null) return null;
  const within = await repositoryNow(services, place);
  const commit = within && (await readCommit(within, sha).catch(() => undefined));
  return commit ? presentCommit(services, place, commit) : null;
}

/** The title and the author of a commit, in bodies about jobs. */
export const authored = {
  message: nullable(Type.String()),
  author_name: nullable(Type.String()),
  author_email: nullable(Type.String()),
  author_url: nullable(Type.String()),
};

/** @param place null without a commit */
export async function presentAuthored(services: Filling, place: ProjectPlace | null, sha: string | null) {
  const commit = place && (await oneCommit(services, place, sha));
  if (!commit) return { message: null, author_name: null, author_email: null, author_url: null };
  const { name, email } = commit.author;
  const [owner] = await ownersOfAddresses(services.db, [email]);
  const author_url = owner ? services.url + userPage(owner.username) : `mailto:${email}`;
  return { message: commit.title, author_name: name, author_email: email, author_url };
}

/** The maximum size of a file whose content is sent, in bytes. */
const maximumText_bytes = 1024 * 1024;

/** The text of a file; null if it is too long, or the repository no longer has it. */
export async function text(
  services: Filling,
  { blob_id, ...owned }: Owned & { blob_id: string },
): Promise<string | null> {
  const within = await repositoryNow(services, owned);
  if (!within) return null;
  const size_bytes = await blobSize(within, blob_id).catch(() => Number.POSITIVE_INFINITY);
  return size_bytes > maximumText_bytes ? null : (await readBlob(within, blob_id)).toString();
}

/** The maximum number of commits listed for a push, newest first. */
const maximumCommits = 20;
/** The maximum number of characters of all paths in one body. */
const maximumPath_chars = 1_000_000;

/** A push that updated or created a ref, and did not delete it. */
interface Gaining extends Pushed {
  after: string;
  within: Repository;
}

/** Commits, oldest first, with the paths of their files. */
async function withPaths(services: Filling, { place, within }: Gaining, commits: readonly Commit[]) {
  const shown = [];
  let left = maximumPath_chars;
  for (const commit of commits) {
    const [from = null] = commit.parent_ids;
    const files = left > 0 ? await changedFiles(within, { from, to: commit.id }) : [];
    const paths: Record<'added' | 'modified' | 'removed', string[]> = { added: [], modified: [], removed: [] };
    for (const { status, path } of files) {
      left -= path.length;
      if (left <= 0) break;
      paths[status === 'added' ? 'added' : status === 'deleted' ? 'removed' : 'modified'].push(path);
    }
    shown.push({ ...presentCommit(services, place, commit), ...paths });
  }
  return shown.reverse();
}

/** The commits that a branch gained; for a new branch, commits that the default branch does not have. */
async function gainedCommits(services: Filling, push: Gaining) {
  const { place, within, ref, before, after, lists } = push;
  const isDefault = ref === `refs/heads/${place.default_branch}`;
  const base = before ?? (isDefault ? undefined : await resolveBranch(within, place.default_branch));
  const range = { from: [after], not: base === undefined ? [] : [base] };
  try {
    const commits = lists ? await listCommits(within, { ...range, limit: maximumCommits }) : [];
    return {
      commits: await withPaths(services, push, commits),
      total_commits_count: await countCommits(within, range),
    };
  } catch (error) {
    // The branch has since moved away from the commit, and git has pruned it.
    if (error instanceof GitError) return { commits: [], total_commits_count: 0 };
    throw error;
  }
}

/** The commit that a tag leads to, and the tag's message if it has one. */
async function taggedCommit(services: Filling, push: Gaining) {
  const { within, ref, after, lists } = push;
  const tag = await readTag(within, { name: ref.slice('refs/tags/'.length), id: after }).catch(() => undefined);
  const checkout_sha = tag?.commit_id ?? null;
  const commits = lists && checkout_sha !== null ? [await readCommit(within, checkout_sha)] : [];
  const total_commits_count = checkout_sha === null ? 0 : 1;
  return {
    checkout_sha,
    message: tag?.message ?? null,
    commits: await withPaths(services, push, commits),
    total_commits_count,
  };
}

const nameOf = ({ ref }: Pushed): 'tag_push' | 'push' => (ref.startsWith('refs/tags/') ? 'tag_push' : 'push');

/** The first fields of the body of a push; fields from `gainedBy` take precedence. */
export function headOfPush(push: Pushed) {
  const { ref, before, after } = push;
  const none = '0'.repeat((before ?? after)!.length);
  const name = nameOf(push);
  return {
    object_kind: name,
    event_name: name,
    before: before ?? none,
    after: after ?? none,
    ref,
    checkout_sha: after,
    message: null,
  };
}

/** The commits of a push. */
export async function gainedBy(services: Filling, push: Pushed) {
  const { place, after } = push;
  const within = after === null ? undefined : await repositoryNow(services, place);
  if (!within) return { commits: [], total_commits_count: 0 };
  return (nameOf(push) === 'tag_push' ? taggedCommit : gainedCommits)(services, { ...push, after: after!, within });
}
