/** Scheduling the moves of all containers on a storage. */
import { Type } from 'typebox';
import { nullable } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { containers } from './definition.ts';
import { beginScheduled } from './jobs.ts';
import { scheduleAll } from './scheduling_actions.ts';

/** If interrupted, it starts over and skips containers already scheduled. */
export const scheduleMoves = job('schedule_storage_moves', {
  input: { container: Type.String(), source: Type.String(), destination: nullable(Type.String()) },
  retries: 5,
  run: async ({ input: { container: name, source, destination }, signal, log, ...services }) => {
    const container = containers.find((each) => each.name === name)!;
    const result = await scheduleAll(services, { container, source, destination: destination ?? undefined }, signal);
    log.info({ kind: name, source, ...result }, 'scheduled storage moves');
    await beginScheduled(services.db);
  },
});
