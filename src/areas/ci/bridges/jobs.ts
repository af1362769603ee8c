/** Starts what bridges start, and lets them end with it (docs/reference/pipelines.md#bridges). */
import { job } from '../../../jobs/index.ts';
import { followQueue } from '../../code/pipelines/index.ts';
import { cancelChildQueue, startBridgeQueue } from '../running/bridge_actions.ts';
import { cancelWhole } from '../running/change_actions.ts';
import { onPipeline } from '../running/process_actions.ts';
import { beginBridge, followBridge } from './end_actions.ts';
import { readyBridge, standingBridges } from './queries.ts';
import { planBridge } from './start_actions.ts';

/** Enqueued when the turn of a bridge has come. */
export const startBridge = startBridgeQueue.runBy(
  async ({ input: { job_id }, log: _log, signal: _signal, ...services }) => {
    const ready = await readyBridge(services.db, job_id);
    if (!ready) return;
    const { pipeline_id, project_id } = ready;
    await beginBridge(services, { job_id, pipeline_id, project_id }, await planBridge(services, ready));
  },
);

/** Enqueued when a pipeline that bridges wait for ends, begins again or is deleted. */
export const followPipelines = followQueue.runBy(({ db, input }) => followBridge(db, input));

/** Enqueued when the parent of a pipeline, or the bridge that has started it, was canceled. */
export const cancelChild = cancelChildQueue.runBy(({ db, input }) =>
  onPipeline(db, input, (tx, pipeline) => cancelWhole(tx, pipeline)),
);

const mostAtOnce = 100;

/** Every minute: bridges whose work was lost, and those that wait for a pipeline whose project was deleted. */
export const moveBridges = job('move_standing_bridges', {
  input: {},
  retries: 0,
  schedule: '* * * * *',
  run: async ({ db, signal }) => {
    for (const { is_ready, ...place } of await standingBridges(db, mostAtOnce)) {
      signal.throwIfAborted();
      if (is_ready) await startBridgeQueue.enqueue(db, { job_id: place.job_id }, { key: String(place.job_id) });
      else await followBridge(db, place);
    }
  },
});
