/** Moves pipelines on that stand still (docs/operating.md#runners). There should be none. */
import { repeated } from '../../../db/index.ts';
import { job } from '../../../jobs/index.ts';
import { handOn, processPipeline } from './process_actions.ts';
import { lockPipeline } from './queries.ts';
import { type Standing, standingPipelines } from './standing_queries.ts';

const mostAtOnce = 100;

/** Every minute. What it finds is a fault of the server, so it is logged. */
export const moveStanding = job('move_standing_pipelines', {
  input: {},
  retries: 0,
  schedule: '* * * * *',
  run: async ({ db, log, signal }) => {
    const move = ({ id, project_id, resource_group_ids }: Standing) =>
      repeated(db, async (tx) => {
        for (const group of resource_group_ids) await handOn(tx, group);
        await processPipeline(tx, await lockPipeline(tx, project_id, id));
      });
    for (const standing of await standingPipelines(db, mostAtOnce)) {
      signal.throwIfAborted();
      log.warn({ pipeline_id: standing.id }, 'a pipeline stood still');
      await move(standing);
    }
  },
});
