/** Running mirrors. */
import { job } from '../../../jobs/index.ts';
import { pushQueue } from './actions.ts';
import { pullQueue, scheduleDuePulls } from './pull_actions.ts';
import { runPull } from './pulling_actions.ts';
import { runPush } from './pushing_actions.ts';

export const pushMirror = pushQueue.runBy(runPush);
export const pullMirror = pullQueue.runBy(runPull);

export const schedulePulls = job('schedule_pull_mirrors', {
  input: {},
  retries: 0,
  schedule: '* * * * *',
  run: ({ db }) => scheduleDuePulls(db),
});
