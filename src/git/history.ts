/** The history of a commit, of a path in it, and the number of lines that commits changed. */
import { answersOf, cacheOf } from '../foundation/caches.ts';
import { git } from './command.ts';
import { parseCommit, readCommit } from './commits.ts';
import { fullId } from './ids.ts';
import { plainStats } from './line_stats.ts';
import { objectsIn } from './quarantine.ts';
import { refsBelow } from './ref_store.ts';
import { rememberedGit } from './remembered.ts';
import type { Commit, CommitStats, Environment, Option, Repository } from './types.ts';
import { followPath, newestCommits } from './walking.ts';

export interface CommitList {
  /** Ids of the commits to start from. */
  from?: readonly string[];
  /** Ids of commits whose history is left out. */
  not?: readonly string[];
  /** Starts from every branch and tag. */
  all?: boolean;
  /** Leaves out the history of every branch and tag: what remains is new. */
  not_all?: boolean;
  /** Only commits that touched this file or folder. */
  path?: string;
  since?: Date;
  until?: Date;
  /** A part of the author's `Name <email>`. */
  author?: string;
  first_parent?: boolean;
  order?: 'default' | 'topo';
  skip?: number;
  limit?: number;
  /** The environment of a push in quarantine, which makes its commits visible. */
  env?: Environment | undefined;
}

const known_stats = cacheOf<string, CommitStats>(50_000);

interface PathInCommit {
  repository: Repository;
  commit: string;
  path: string;
}

const last_commits = answersOf<PathInCommit, string>((question) => findLastCommit(question), {
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: (_, key) => 100 + key.length * 2,
});

/** The commits of a list, newest first. At most `limit` of them; all without it. Throws `GitError` when a given id is no commit. */
export function listCommits(
  repository: Repository,
  list: CommitList & { with_stats: true },
): Promise<(Commit & { stats: CommitStats })[]>;
export function listCommits(repository: Repository, list: CommitList & { with_stats?: false }): Promise<Commit[]>;
export async function listCommits(
  repository: Repository,
  list: CommitList & { with_stats?: boolean },
): Promise<Commit[]> {
  const ids = await commitIds(repository, list);
  const commits = await commitsOf(repository, ids, list.env);
  if (!list.with_stats) return commits;
  const stats = await commitStats(repository, ids, list.env);
  return commits.map((commit, index) => ({ ...commit, stats: stats[index]! }));
}

async function commitIds(repository: Repository, list: CommitList): Promise<string[]> {
  const { skip = 0, limit } = list;
  const [start] = list.from ?? [];
  if (start !== undefined && limit !== undefined && isPlain(list)) {
    const ids = await newestCommits(repository, start, {
      count: skip + limit,
      first_parent: list.first_parent ?? false,
    });
    if (ids) return ids.slice(skip);
  }
  return (await walk(repository, list, [])).toString('utf8').split('\n').slice(0, -1);
}

/** Whether a list is the history of one commit, in default order. */
const isPlain = ({ from, not, all, not_all, path, since, until, author, order, env }: CommitList): boolean =>
  from?.length === 1 &&
  !not?.length &&
  !all &&
  !not_all &&
  !path &&
  !since &&
  !until &&
  !author &&
  order !== 'topo' &&
  !env;

/** The number of commits of a list; counting stops at `limit`. */
export async function countCommits(repository: Repository, list: CommitList): Promise<number> {
  return Number((await walk(repository, list, ['--count'])).toString('utf8'));
}

/** git needs a starting point; `all` is one even in an empty repository. */
async function walk(repository: Repository, list: CommitList, options: readonly Option[]): Promise<Buffer> {
  const { from = [], not = [], env, path } = list;
  if (from.length === 0 && !list.all) return Buffer.alloc(0);
  const tips = list.all && !list.not_all && !env ? await tipsOf(repository) : undefined;
  const operands = [...from.map(fullId), ...not.map((id) => `^${fullId(id)}`), ...(tips ?? [])];
  const named = walkOptions(tips ? { ...list, all: false } : list);
  const given = ['rev-list', [...options, ...named], operands, path ? [path] : []] as const;
  return (list.all && !tips) || list.not_all
    ? git(repository, ...given, { env })
    : rememberedGit(repository, ...given, { env });
}

/** The ids are arguments of git. */
const maximumTips = 500;

/** The ids of all branches and tags, which determine git's output; undefined when there are none, or too many. */
async function tipsOf(repository: Repository): Promise<string[] | undefined> {
  const refs = await Promise.all(['refs/heads/', 'refs/tags/'].map((folder) => refsBelow(repository, folder)));
  const ids = [...new Set(refs.flat().map(({ id }) => id))];
  return ids.length === 0 || ids.length > maximumTips ? undefined : ids;
}

function walkOptions(list: CommitList): Option[] {
  const options: (Option | false | undefined)[] = [
    list.order === 'topo' && '--topo-order',
    list.first_parent && '--first-parent',
    list.since && `--since=${list.since.toISOString()}`,
    list.until && `--until=${list.until.toISOString()}`,
    list.author !== undefined && '--fixed-strings',
    list.author !== undefined && `--author=${list.author}`,
    list.skip !== undefined && `--skip=${list.skip}`,
    list.limit !== undefined && `--max-count=${list.limit}`,
    list.all && '--branches',
    list.all && '--tags',
    // The second --not ends the exclusion, so that what follows is included again.
    ...(list.not_all ? (['--not', '--branches', '--tags', '--not'] as const) : []),
  ];
  return options.filter((option) => typeof option === 'string');
}

async function commitsOf(repository: Repository, ids: readonly string[], env?: Environment): Promise<Commit[]> {
  if (!env) return Promise.all(ids.map((id) => readCommit(repository, id)));
  return (await objectsIn(repository, ids, env)).map(({ id, content }) => parseCommit(id, content));
}

/**
 * Lines added and removed by each of these commits, in the same order; a merge is compared with its first parent.
 * Throws `GitError` when an id is no commit.
 */
export async function commitStats(
  repository: Repository,
  ids: readonly string[],
  env?: Environment,
): Promise<CommitStats[]> {
  const key = (id: string) => `${repository.path}\0${id}`;
  const found = new Map(ids.map((id) => [id, known_stats.get(key(id))]));
  const unknown = [...found.keys()].filter((id) => !found.get(id)).map(fullId);
  if (unknown.length === 1 && !env) {
    const stats = await plainStats(repository, unknown[0]!).catch(() => undefined); // git reports the problem
    if (stats) {
      found.set(unknown[0]!, stats);
      known_stats.set(key(unknown.pop()!), stats);
    }
  }
  if (unknown.length > 0) {
    const options = [
      '--no-walk=unsorted',
      '--stdin',
      '--diff-merges=first-parent',
      '--find-renames',
      '--shortstat',
      '--format=%H',
    ] as const;
    const output = await git(repository, 'log', options, [], [], { input: `${unknown.join('\n')}\n`, env });
    for (const [id, stats] of parseStats(output.toString('utf8'))) {
      found.set(id, stats);
      known_stats.set(key(id), stats);
    }
  }
  return ids.map((id) => found.get(id) ?? { additions: 0, deletions: 0, total: 0 });
}

/** An id on a line of its own, then, unless the commit changed nothing, a blank line and a sentence with the numbers. */
function* parseStats(output: string): Generator<[string, CommitStats]> {
  for (const [, id, sentence = ''] of output.matchAll(/^([0-9a-f]{40,64})\n(?:\n (.*)\n)?/gm)) {
    const additions = Number(/(\d+) insertion/.exec(sentence)?.[1] ?? 0);
    const deletions = Number(/(\d+) deletion/.exec(sentence)?.[1] ?? 0);
    yield [id!, { additions, deletions, total: additions + deletions }];
  }
}

/**
 * The id of the last commit, in the history of `commit`, that touched a path; `commit` itself for the empty path.
 * Undefined when no commit ever did.
 */
export async function lastCommitOf(repository: Repository, commit: string, path: string): Promise<string | undefined> {
  const question = { repository, commit: fullId(commit), path };
  return path === '' ? question.commit : last_commits.fetch(keyOf(question), { context: question });
}

const keyOf = ({ repository, commit, path }: PathInCommit) => `${repository.path}\0${commit}\0${path}`;

async function findLastCommit({ repository, commit, path }: PathInCommit): Promise<string | undefined> {
  const key = (id: string) => keyOf({ repository, commit: id, path });
  const walked = await followPath(repository, commit, { path, isKnown: (id) => last_commits.has(key(id)) });
  const start = walked?.id ?? commit;
  const id = walked?.isLast ? start : (last_commits.get(key(start)) ?? (await lastByGit(repository, start, path)));
  if (id && start !== commit) last_commits.set(key(start), id);
  return id;
}

async function lastByGit(repository: Repository, commit: string, path: string): Promise<string | undefined> {
  return (await commitIds(repository, { from: [commit], path, limit: 1 }))[0];
}
