/** Filters of lists of runners. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { CommaList, filtersOn } from '../../../http/index.ts';
import { runnerTypes, statuses, statusOf } from '../../code/runners/index.ts';
import { orderedTags } from './rules.ts';

const beginning = (text: string) => `${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

export const { input: runnerFilters, matching } = filtersOn('runners', (by) => ({
  type: by(Type.Enum([...runnerTypes]), (q, type) => q('runner_type', '=', type)),
  status: by(Type.Enum([...statuses]), (_q, status) => sql<boolean>`${statusOf('runners')} = ${status}`),
  paused: by(Type.Boolean(), (q, paused) => q('paused', '=', paused)),
  tag_list: by(
    CommaList(Type.String({ description: 'Runners that have all of them' })),
    (_q, tags) => sql<boolean>`tag_list @> ${orderedTags(tags)}::text[]`,
  ),
  version_prefix: by(
    Type.String({ description: 'Runners with a manager whose version begins so, e.g. `15.1`' }),
    (_q, prefix) =>
      sql<boolean>`exists (select from runner_managers where runner_id = runners.id and version like ${beginning(prefix)})`,
  ),
}));
