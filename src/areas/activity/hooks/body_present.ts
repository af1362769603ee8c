/** The body of an event: its facts, with the holes filled by what the database does not have, such as addresses and commits. Commits never change, so neither does the body. */
import {
  blobSize,
  type Commit,
  changedFiles,
  countCommits,
  GitError,
  listCommits,
  readBlob,
  readCommit,
  readTag,
  repositoryOf,
  resolveBranch,
} from '../../../git/index.ts';
import { cloneUrls, type Services } from '../../../http/index.ts';
import { avatarUrl } from '../../people/avatars/index.ts';

export type Filling = Pick<Services, 'url' | 'ssh_url' | 'storages'>;

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

interface Person {
  id: number;
  name: string;
  username: string;
  avatar: string | null;
  public_email: string;
}

interface Place {
  name: string;
  description: string | null;
  visibility: string;
  full_path: string;
}

type Project = Place & { id: number; avatar: string | null; namespace: string; default_branch: string };

interface RepositoryPlace {
  id: number;
  storage: string;
  full_path: string;
}

/** A reference that moved, with the rest of its body. */
interface Pushed {
  place: RepositoryPlace & { default_branch: string };
  ref: string;
  before: string | null;
  after: string | null;
  /** Whether commits are listed. */
  lists: boolean;
  /** The other members of the body. */
  also: unknown;
}

interface Wiki {
  /** Its web address without that of the server. */
  page: string;
  /** Of its project or group. */
  full_path: string;
  default_branch: string;
}

const visibilityLevels: Record<string, number> = { private: 0, internal: 10, public: 20 };

const person = ({ url }: Filling, { avatar, public_email, ...user }: Person) => ({
  ...user,
  avatar_url: avatarUrl(url, 'user', { id: user.id, avatar }),
  email: public_email || '[REDACTED]',
});

function project(filling: Filling, { avatar, visibility, full_path, ...row }: Project) {
  const { url } = filling;
  const web_url = `${url}/${full_path}`;
  const { http, ssh } = cloneUrls(filling, full_path);
  const { id, name, description, namespace, default_branch } = row;
  return {
    ...{ id, name, description, web_url, avatar_url: avatarUrl(url, 'project', { id, avatar }) },
    ...{ git_ssh_url: ssh, git_http_url: http, namespace, visibility_level: visibilityLevels[visibility]! },
    ...{ path_with_namespace: full_path, default_branch, ci_config_path: null },
    ...{ homepage: web_url, url: ssh || http, ssh_url: ssh, http_url: http },
  };
}

function repository(filling: Filling, { name, description, visibility, full_path }: Place) {
  const { http, ssh } = cloneUrls(filling, full_path);
  return {
    ...{ name, url: ssh || http, description, homepage: `${filling.url}/${full_path}` },
    ...{ git_http_url: http, git_ssh_url: ssh },
    visibility_level: visibilityLevels[visibility]!,
  };
}

function wiki(filling: Filling, { page, full_path, default_branch }: Wiki) {
  const path_with_namespace = `${full_path}.wiki`;
  const { http, ssh } = cloneUrls(filling, path_with_namespace);
  return { web_url: filling.url + page, git_ssh_url: ssh, git_http_url: http, path_with_namespace, default_branch };
}

const presentCommit = ({ url }: Filling, { full_path }: RepositoryPlace, commit: Commit) => ({
  ...{ id: commit.id, message: commit.message, title: commit.title, timestamp: commit.authored_date },
  url: `${url}/${full_path}/-/commit/${commit.id}`,
  author: { name: commit.author_name, email: commit.author_email },
});

/** A commit; null when the repository no longer has it. */
async function oneCommit(services: Filling, place: RepositoryPlace & { sha: string }) {
  const commit = await readCommit(repositoryOf(services, place), place.sha).catch(() => undefined);
  return commit ? presentCommit(services, place, commit) : null;
}

/** The bytes of a file that is told; of a longer one, its content is left out. */
const most_text_bytes = 1024 * 1024;

/** The text of a file; null when it is too long, or the repository no longer has it. */
async function text(services: Filling, { blob_id, ...place }: RepositoryPlace & { blob_id: string }): Promise<string | null> {
  const repository = repositoryOf(services, place);
  const size_bytes = await blobSize(repository, blob_id).catch(() => undefined);
  if (size_bytes === undefined || size_bytes > most_text_bytes) return null;
  return (await readBlob(repository, blob_id)).toString();
}

/** The newest commits of a push that are listed. */
const most_commits = 20;
/** The characters of all paths in one body together. */
const most_path_characters = 1_000_000;

/** Commits, oldest first, with the paths of their files. */
async function withPaths(services: Filling, place: RepositoryPlace, commits: readonly Commit[]) {
  const shown = [];
  let left = most_path_characters;
  for (const commit of commits) {
    const [from = null] = commit.parent_ids;
    const files = left > 0 ? await changedFiles(repositoryOf(services, place), { from, to: commit.id }) : [];
    const paths: Record<string, string[]> = { added: [], modified: [], removed: [] };
    for (const { status, path } of files) {
      left -= path.length;
      if (left <= 0) break;
      paths[status === 'added' ? 'added' : status === 'deleted' ? 'removed' : 'modified']!.push(path);
    }
    shown.push({ ...presentCommit(services, place, commit), ...paths });
  }
  return shown.reverse();
}

/** The commits that a branch gained; for a new branch, those that the default branch does not have. */
async function gainedCommits(services: Filling, { place, ref, before, after, lists }: Pushed & { after: string }) {
  const within = repositoryOf(services, place);
  const isDefault = ref === `refs/heads/${place.default_branch}`;
  const base = before ?? (isDefault ? undefined : await resolveBranch(within, place.default_branch));
  const range = { from: [after], not: base === undefined ? [] : [base] };
  try {
    const commits = lists ? await listCommits(within, { ...range, limit: most_commits }) : [];
    return { commits: await withPaths(services, place, commits), total_commits_count: await countCommits(within, range) };
  } catch (error) {
    // The branch has moved away from it since, and the repository has forgotten it.
    if (error instanceof GitError) return { commits: [], total_commits_count: 0 };
    throw error;
  }
}

/** The commit that a tag leads to, and its message if it has one of its own. */
async function taggedCommit(services: Filling, { place, ref, after, lists }: Pushed & { after: string }) {
  const within = repositoryOf(services, place);
  const tag = await readTag(within, { name: ref.slice('refs/tags/'.length), id: after }).catch(() => undefined);
  const checkout_sha = tag?.commit_id ?? null;
  const commits = lists && checkout_sha !== null ? [await readCommit(within, checkout_sha)] : [];
  const total_commits_count = checkout_sha === null ? 0 : 1;
  return { checkout_sha, message: tag?.message ?? null, commits: await withPaths(services, place, commits), total_commits_count };
}

/** A push to one branch or tag. */
async function pushed(services: Filling, push: Pushed) {
  const { ref, before, after, also } = push;
  const none = '0'.repeat((before ?? after)!.length);
  const isTag = ref.startsWith('refs/tags/');
  const name = isTag ? 'tag_push' : 'push';
  const there = { ...push, after: after! };
  const gained =
    after === null ? { commits: [], total_commits_count: 0 } : await (isTag ? taggedCommit : gainedCommits)(services, there);
  return {
    ...{
      object_kind: name,
      event_name: name,
      before: before ?? none,
      after: after ?? none,
      ref,
      checkout_sha: after,
      message: null,
    },
    ...((await bodyOf(services, also)) as object),
    ...gained,
    push_options: {},
  };
}

/** What fills the holes, by the name of their only member. */
const fillers: Readonly<Record<string, (services: Filling, facts: never) => unknown>> = {
  $person: person,
  $project: project,
  $repository: repository,
  $url: ({ url }: Filling, page: string) => url + page,
  $wiki: wiki,
  $text: text,
  $avatar: ({ url }: Filling, user: { id: number; avatar: string | null }) => avatarUrl(url, 'user', user),
  $commit: oneCommit,
  $push: pushed,
};

/** @param facts of `hook_events` */
export async function bodyOf(services: Filling, facts: unknown): Promise<unknown> {
  if (typeof facts !== 'object' || facts === null) return facts;
  if (Array.isArray(facts)) return Promise.all(facts.map((each) => bodyOf(services, each)));
  const members = Object.entries(facts);
  const [[name, value] = ['', null]] = members;
  const filler = fillers[name];
  if (filler) return filler(services, value as never);
  return Object.fromEntries(
    await Promise.all(members.map(async ([member, each]) => [member, await bodyOf(services, each as Json)] as const)),
  );
}
