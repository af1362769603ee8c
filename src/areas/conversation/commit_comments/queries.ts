/** Where in the diff of a commit a comment is, and commits behind to-do items. */
import type { DiscussedCommit, Granted } from '../../../access/index.ts';
import { projectOf } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import {
  type ChangedFile,
  changedFiles,
  patchesOf,
  type Repository,
  readCommit,
  repositoryOf,
  resolveCommit,
} from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { commitKey } from '../../activity/todos/index.ts';
import { presentCommit } from '../../code/repository/index.ts';
import { completePosition, type GivenPosition, incompletePosition, notInDiff, type Position } from '../notes/index.ts';
import { shows } from './rules.ts';

/** The two sides of a commit's diff. */
interface Sides {
  repository: Repository;
  from: string | null;
  to: string;
}

async function sidesOf(services: Pick<Services, 'storages'>, { sha, in: place }: Granted<DiscussedCommit>): Promise<Sides> {
  const repository = repositoryOf(services, projectOf(place));
  const { parent_ids } = await readCommit(repository, sha);
  return { repository, from: parent_ids[0] ?? null, to: sha };
}

/** What stands for the parent of the first commit of a history. */
const noCommit = (like: string) => '0'.repeat(like.length);

const filesOf = ({ repository, from, to }: Sides): Promise<ChangedFile[]> =>
  changedFiles(repository, { from, to, renames: true });

/** A longer diff is not shown (docs/reference/repository.md), so its lines cannot be named. */
const limits = { patch_bytes: 200 * 1024, total_bytes: 200 * 1024 };

async function hunksOf({ repository, from, to }: Sides, file: ChangedFile): Promise<string> {
  const [patch] = await patchesOf(repository, { from, to }, [file], limits);
  return patch!.hunks;
}

/**
 * The position that a comment on a commit is given, after it was found in the diff.
 * @throws ApiError 400 for a line that the diff does not show, and for a position that is incomplete or belongs to other commits
 */
export async function positionOn(
  services: Pick<Services, 'storages'>,
  on: Granted<DiscussedCommit>,
  given: GivenPosition,
): Promise<Position> {
  const sides = await sidesOf(services, on);
  const parent = sides.from ?? noCommit(on.sha);
  const isOfCommit = given.head_sha === on.sha && given.base_sha === parent && given.start_sha === parent;
  const { position_type, old_path, new_path, old_line, new_line } = given;
  const isText = position_type === 'text';
  if (!isOfCommit || (old_path ?? new_path) === undefined) throw incompletePosition();
  if (isText && (old_line ?? new_line) === undefined) throw incompletePosition();
  const isFile = (file: ChangedFile) =>
    (old_path === undefined || old_path === file.old_path) && (new_path === undefined || new_path === file.path);
  const file = (await filesOf(sides)).find(isFile);
  if (!file) throw isText ? notInDiff() : incompletePosition();
  if (isText && !shows(await hunksOf(sides, file), { old_line, new_line })) throw notInDiff();
  return completePosition(given, file);
}

/** An added or removed line of a file. */
export interface ChangedLine {
  path: string;
  line: number;
  line_type: 'new' | 'old';
}

/** The position of an added or removed line; undefined if the diff does not show it. */
export async function positionOfLine(
  services: Pick<Services, 'storages'>,
  on: Granted<DiscussedCommit>,
  { path, line, line_type }: ChangedLine,
): Promise<Position | undefined> {
  const sides = await sidesOf(services, on);
  const file = (await filesOf(sides)).find((changed) => changed.path === path);
  const place = { old_line: line_type === 'old' ? line : undefined, new_line: line_type === 'new' ? line : undefined };
  if (!file || !shows(await hunksOf(sides, file), place)) return undefined;
  const parent = sides.from ?? noCommit(on.sha);
  const refs = { base_sha: parent, start_sha: parent, head_sha: on.sha };
  return completePosition({ ...refs, position_type: 'text', ...place }, file);
}

type Named = Parameters<typeof commitKey>[0];

/** Commits as they appear behind to-do items, without those that no longer exist. */
export async function presentTargets(services: Pick<Services, 'db' | 'storages' | 'url'>, named: readonly Named[]) {
  const projects = await projectsById(services.db, [...new Set(named.map(({ project_id }) => project_id))]);
  const shown = named.map(async (commit) => {
    const project = projects.get(commit.project_id);
    if (!project) return [];
    const repository = repositoryOf(services, project);
    const id = await resolveCommit(repository, commit.commit_id);
    if (id !== commit.commit_id) return [];
    return [[commitKey(commit), presentCommit(services.url, project, await readCommit(repository, id))] as const];
  });
  return new Map((await Promise.all(shown)).flat());
}

async function projectsById(db: Database, ids: readonly number[]) {
  const query = db
    .selectFrom('projects')
    .select(['id', 'storage', 'full_path'])
    .where(isAmong('id', ids, 'bigint[]'));
  return new Map((await query.execute()).map((project) => [project.id, project]));
}
