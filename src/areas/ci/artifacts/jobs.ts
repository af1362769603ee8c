/** Deletes files of jobs. */
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { removeArtifactsOf, removeDueArtifacts } from './actions.ts';

/** The most batches of one run. What is left is for the next one. */
const perRun = 100;

/** Every minute: deletes files whose end has come. */
export const removeExpiredArtifacts = job('remove_expired_artifacts', {
  input: {},
  retries: 0,
  schedule: '* * * * *',
  run: async ({ signal, ...services }) => {
    for (let count = 0; count < perRun; count++) {
      signal.throwIfAborted();
      if (!(await removeDueArtifacts(services))) return;
    }
  },
});

/** Enqueued by who wants the files of a project deleted. */
export const removeProjectArtifacts = job('remove_project_artifacts', {
  input: { project_id: Id },
  retries: 3,
  run: async ({ input, signal, ...services }) => {
    for (let after: number | null = 0; after !== null; ) {
      signal.throwIfAborted();
      after = await removeArtifactsOf(services, input.project_id, after);
    }
  },
});
