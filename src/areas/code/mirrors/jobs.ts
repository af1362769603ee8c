/** Runs mirrors. */
import { job } from '../../../jobs/index.ts';
import { pushQueue } from './actions.ts';
import { pullQueue, scheduleDuePulls } from './pull_actions.ts';
import { confirmPull, runPull } from './pulling_actions.ts';
import { confirmPush, runPush } from './pushing_actions.ts';

export const pushMirror = pushQueue.runBy({ confirm: confirmPush, run: runPush });
export const pullMirror = pullQueue.runBy({ confirm: confirmPull, run: runPull });

export const schedulePulls = job('schedule_pull_mirrors', {
  input: {},
  retries: 0,
  schedule: '* * * * *',
  run: ({ db }) => scheduleDuePulls(db),
});
