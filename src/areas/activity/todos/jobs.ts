/** Ends obsolete to-do items that are no longer listed, so no user can end them. */
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { objectHeader, repositoryOf } from '../../../git/index.ts';
import { job } from '../../../jobs/index.ts';
import type { JobServices } from '../../../services/index.ts';

const perQuery = 1000;

interface NamedCommit {
  project_id: number;
  storage: string;
  commit_id: string;
}

/** Commits with pending to-do items, in order after a given one. */
async function commitsWithTodos(
  { db }: Pick<JobServices, 'db'>,
  after: Pick<NamedCommit, 'project_id' | 'commit_id'>,
): Promise<NamedCommit[]> {
  return db
    .selectFrom('todos')
    .innerJoin('projects', 'projects.id', 'todos.project_id')
    .select(['projects.id as project_id', 'projects.storage'])
    .select(sql<string>`todos.commit_id`.as('commit_id'))
    .distinct()
    .where('todos.commit_id', 'is not', null)
    .where('todos.state', '=', 'pending')
    .where(sql<boolean>`(todos.project_id, todos.commit_id) > (${after.project_id}, ${after.commit_id})`)
    .orderBy('project_id')
    .orderBy('commit_id')
    .limit(perQuery)
    .execute();
}

/** Whether the repository is readable and does not have the commit. */
async function isGone(
  { storages, log }: Pick<JobServices, 'storages'> & { log: Pick<Logger, 'warn'> },
  { project_id, storage, commit_id }: NamedCommit,
): Promise<boolean> {
  try {
    // Asks git directly: other functions may still have the commit cached.
    return (await objectHeader(repositoryOf({ storages }, { id: project_id, storage }), commit_id)) === undefined;
  } catch (error) {
    // An unreachable repository tells nothing about its commits.
    log.warn({ err: error, project_id }, 'a repository cannot be read; to-do items on its commits stay');
    return false;
  }
}

/** Every night: marks to-do items on commits that no longer exist as done, so that they are not counted. */
export const endTodosOfGoneCommits = job('end_todos_of_gone_commits', {
  input: {},
  retries: 0,
  schedule: '10 4 * * *',
  run: async ({ signal, ...services }) => {
    let after = { project_id: 0, commit_id: '' };
    for (;;) {
      const commits = await commitsWithTodos(services, after);
      const gone: NamedCommit[] = [];
      for (const commit of commits) {
        signal.throwIfAborted();
        if (await isGone(services, commit)) gone.push(commit);
      }
      await services.db
        .updateTable('todos')
        .from(
          sql<
            Pick<NamedCommit, 'project_id' | 'commit_id'>
          >`unnest(${gone.map(({ project_id }) => project_id)}::bigint[],
            ${gone.map(({ commit_id }) => commit_id)}::text[])`.as<'gone'>(sql`gone(project_id, commit_id)`),
        )
        .set({ state: 'done', updated_at: sql`now()` })
        .where(
          sql<boolean>`todos.project_id = gone.project_id and todos.commit_id = gone.commit_id and todos.state = 'pending'`,
        )
        .execute();
      if (commits.length < perQuery) return;
      after = commits.at(-1)!;
    }
  },
});
