/** Errors of a project: listing and showing them. */
import { projectRole } from '../../../../access/index.ts';
import { found, get, Id, offeredOn, one, pageOf } from '../../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../../lists/index.ts';
import { eventsFrom } from '../events/queries.ts';
import { ErrorDetails, presentError, presentErrorDetails, TrackedError } from './present.ts';
import { errorList, errorListInput, errorNumbered, statsOf, tagsOf } from './queries.ts';

const path = '/projects/:id/error_tracking/errors';
const access = projectRole('reporter');

export const errorRoutes = offeredOn(
  ['hosted'],
  [
    get(path, {
      operation: 'listErrors',
      summary: 'List the errors of a project',
      access,
      input: { ...errorListInput, ...paging },
      returns: pageOf(TrackedError),
      refusals: { 400: 'query has more than 64 terms' },
      handle: async ({ db, url, caller, project, input }) => {
        const { list, within } = await errorList(db, caller, project, input);
        return mapPage(await paginate(db, list, input, { within }), presentError(url, project));
      },
    }),
    get(`${path}/:error_id`, {
      operation: 'getError',
      summary: 'Get an error with its latest event, its tags and its statistics',
      access,
      input: { error_id: Id },
      returns: one(ErrorDetails),
      handle: async ({ db, url, caller, project, input: { error_id } }) => {
        const error = found(undefined, await errorNumbered(db, caller, project, error_id));
        const [events, tags, stats] = await Promise.all([
          eventsFrom(db, error, { per_page: 1, offset: 0 }),
          tagsOf(db, error),
          statsOf(db, [error.id]),
        ]);
        const parts = { latest_event: events.items[0], tags, stats: stats.get(error.id)! };
        return presentErrorDetails(presentError(url, project)(error), parts);
      },
    }),
  ],
);
