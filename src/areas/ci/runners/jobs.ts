/** Background work of runners. */
import { job } from '../../../jobs/index.ts';
import { forgetSilent } from './manager_actions.ts';

/** Every hour: forgets machines that were not heard of for a week. */
export const forgetSilentManagers = job('forget_silent_runner_managers', {
  input: {},
  retries: 2,
  schedule: '35 * * * *',
  run: async ({ db }) => {
    await forgetSilent(db);
  },
});
