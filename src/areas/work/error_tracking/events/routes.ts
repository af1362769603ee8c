/** Events of an error: the data sent by applications, and stack traces. */
import { Type } from 'typebox';
import { type Project, projectRole } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { found, get, Id, offeredOn, one, pageOf } from '../../../../http/index.ts';
import { paging } from '../../../../lists/index.ts';
import { ErrorEvent, ErrorEventDetails, presentEventDetails } from './present.ts';
import { eventNamed, eventPage } from './queries.ts';
import { stackOf } from './source_git.ts';

const path = '/projects/:id/error_tracking/errors/:error_id/events';
const access = projectRole('reporter');

/** @throws ApiError 404 */
async function errorIn(db: Database, project: Project, id: number): Promise<{ id: number; project_id: number }> {
  const query = db
    .selectFrom('error_tracking_errors')
    .select('id')
    .where('project_id', '=', project.id)
    .where('id', '=', id);
  return { ...found(undefined, await query.executeTakeFirst()), project_id: project.id };
}

export const errorEventRoutes = offeredOn(
  ['hosted'],
  [
    get(path, {
      operation: 'listErrorEvents',
      summary: 'List the events of an error, newest first',
      access,
      input: { error_id: Id, ...paging },
      returns: pageOf(ErrorEvent),
      handle: async ({ db, project, input }) => eventPage(db, await errorIn(db, project, input.error_id), input),
    }),
    get(`${path}/:event_id`, {
      operation: 'getErrorEvent',
      summary: 'Get an event with its payload and its stack',
      access,
      input: {
        error_id: Id,
        event_id: Type.String({ description: '`latest`, `oldest`, its `id`, or its `event_id`' }),
      },
      returns: one(ErrorEventDetails),
      handle: async (call) => {
        const { db, project, input } = call;
        const error = await errorIn(db, project, input.error_id);
        const event = found(undefined, await eventNamed(db, error, input.event_id));
        return presentEventDetails(event, await stackOf(call, project, event));
      },
    }),
  ],
);
