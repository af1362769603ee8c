/** Positions of comments in the diff of a commit, and commits as targets of to-do items. */
import { type DiscussedCommit, type Granted, projectOf } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import { readCommit, repositoryOf, resolveCommit } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { commitKey } from '../../activity/todos/index.ts';
import { presentCommit } from '../../code/repository/index.ts';
import { diffOfCommit, filesIn, hunksOf, positionIn } from '../notes/diff_git.ts';
import { shows } from '../notes/diff_rules.ts';
import { completePosition, type GivenPosition, type Position } from '../notes/position_rules.ts';

/** The position of a comment in the diff of a commit. */
export const positionOn = async (
  services: Pick<Services, 'storages'>,
  { sha, in: place }: Granted<DiscussedCommit>,
  given: GivenPosition,
): Promise<Position> => positionIn(await diffOfCommit(repositoryOf(services, projectOf(place)), sha), given);

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
  const { sides, refs } = await diffOfCommit(repositoryOf(services, projectOf(on.in)), on.sha);
  const file = (await filesIn(sides)).find((changed) => changed.path === path);
  const place = { old_line: line_type === 'old' ? line : undefined, new_line: line_type === 'new' ? line : undefined };
  if (!file || !shows(await hunksOf(sides, file), place)) return undefined;
  return completePosition({ ...refs, position_type: 'text', ...place }, file);
}

type Named = Parameters<typeof commitKey>[0];

/** Commits as targets of to-do items, without those that no longer exist. */
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
