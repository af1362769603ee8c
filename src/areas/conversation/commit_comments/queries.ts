/** Commits behind to-do items. */
import { type Database, isAmong } from '../../../db/index.ts';
import { readCommit, repositoryOf, resolveCommit } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { commitKey } from '../../activity/todos/index.ts';
import { presentCommit } from '../../code/repository/index.ts';

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
