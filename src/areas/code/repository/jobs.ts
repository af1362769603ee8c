/** Tidying, measuring and deleting repositories in the background. */
import { countObjects, maintain, repositoryOf } from '../../../git/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { measureRepository, measureUnmeasured } from './size_actions.ts';

/** How long a repository waits for it: what was written in between is tidied in one run. */
export const maintenancePause_s = 60;

/** Enqueued by every move of references, with the project as its key, so that a busy repository waits for one at most. */
export const maintainRepository = job('maintain_repository', {
  input: { project_id: Id },
  retries: 2,
  run: async ({ input, ...services }) => {
    const project = await services.db
      .selectFrom('projects')
      .select(['id', 'storage', 'default_branch'])
      .where('id', '=', input.project_id)
      .executeTakeFirst();
    if (!project) return;
    await maintain(repositoryOf(services, project));
    await measureRepository(services, project);
  },
});

/** Each later change of a repository has it measured anyway. */
export const measureRepositories = job('measure_repositories', {
  input: {},
  retries: 0,
  schedule: '33 * * * *',
  run: ({ signal, ...services }) => measureUnmeasured(services, signal),
});

/** The same for a snippet, after its creation as well. */
export const maintainSnippet = job('maintain_snippet', {
  input: { snippet_id: Id },
  retries: 2,
  run: async ({ input: { snippet_id }, ...services }) => {
    const snippet = await services.db.selectFrom('snippets').select('storage').where('id', '=', snippet_id).executeTakeFirst();
    if (!snippet) return;
    const repository = repositoryOf(services, { snippet_id, storage: snippet.storage });
    await maintain(repository);
    const { size_bytes } = await countObjects(repository);
    await services.db.updateTable('snippets').set({ size_bytes }).where('id', '=', snippet_id).execute();
  },
});
