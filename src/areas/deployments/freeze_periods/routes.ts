/** Freeze periods: spans of time, each given by two cron lines, in which a project must not be deployed. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { type Project, projectRole } from '../../../access/index.ts';
import { isCron, isTimeZone } from '../../../cron/index.ts';
import { columnsOf, type Database } from '../../../db/index.ts';
import {
  allOptional,
  checked,
  checkUnmodified,
  del,
  found,
  get,
  Id,
  nothing,
  one,
  optional,
  pageOf,
  paginate,
  paging,
  post,
  put,
  resource,
  Timestamp,
} from '../../../http/index.ts';

const blank = (text: string) => (text.trim() === '' ? ["can't be blank"] : []);

// The leading blank is how the public API sends it.
const Cron = () =>
  checked(Type.String({ description: 'Cron line of five fields, e.g. `0 23 * * 5`' }), (text) =>
    isCron(text) ? [] : [' is invalid syntax', ...blank(text)],
  );
const TimeZone = () =>
  checked(Type.String({ description: 'IANA or Rails name of a time zone' }), (text) =>
    isTimeZone(text) ? [] : ['syntax is invalid', ...blank(text)],
  );

const span = { freeze_start: Cron(), freeze_end: Cron(), cron_timezone: TimeZone() };
const FreezePeriod = resource('FreezePeriod', {
  id: Id,
  freeze_start: Type.String(),
  freeze_end: Type.String(),
  cron_timezone: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
const columns = columnsOf(FreezePeriod);

const freezePeriodsOf = (db: Database, project: Project) =>
  db.selectFrom('freeze_periods').select(columns).where('project_id', '=', project.id);

/** Cron lines without the blanks around them. */
const trimmed = <S extends { freeze_start?: string; freeze_end?: string }>(given: S): S => ({
  ...given,
  ...(given.freeze_start === undefined ? {} : { freeze_start: given.freeze_start.trim() }),
  ...(given.freeze_end === undefined ? {} : { freeze_end: given.freeze_end.trim() }),
});

const reader = projectRole('reporter', { feature: 'environments' });
const maintainer = projectRole('maintainer', { feature: 'environments' });

export const freezePeriods = [
  get('/projects/:id/freeze_periods', {
    summary: 'List the freeze periods of a project, oldest first',
    access: reader,
    input: paging,
    returns: pageOf(FreezePeriod),
    handle: ({ db, project, input }) => paginate(db, freezePeriodsOf(db, project).orderBy('created_at').orderBy('id'), input),
  }),
  get('/projects/:id/freeze_periods/:freeze_period_id', {
    summary: 'Show one freeze period',
    access: reader,
    input: { freeze_period_id: Id },
    returns: one(FreezePeriod),
    handle: async ({ db, project, input }) =>
      found(undefined, await freezePeriodsOf(db, project).where('id', '=', input.freeze_period_id).executeTakeFirst()),
  }),
  post('/projects/:id/freeze_periods', {
    summary: 'Add a freeze period',
    access: maintainer,
    input: { ...span, cron_timezone: optional(TimeZone()) }, // left out, the column says UTC
    returns: one(FreezePeriod),
    handle: ({ db, project, input }) =>
      db
        .insertInto('freeze_periods')
        .values({ ...trimmed(input), project_id: project.id })
        .returning(columns)
        .executeTakeFirstOrThrow(),
  }),
  put('/projects/:id/freeze_periods/:freeze_period_id', {
    summary: 'Change a freeze period',
    access: maintainer,
    input: { freeze_period_id: Id, ...allOptional(span) },
    returns: one(FreezePeriod),
    handle: async ({ db, project, input: { freeze_period_id, ...changes } }) =>
      found(
        undefined,
        await db
          .updateTable('freeze_periods')
          .set({ ...trimmed(changes), updated_at: sql`now()` })
          .where('project_id', '=', project.id)
          .where('id', '=', freeze_period_id)
          .returning(columns)
          .executeTakeFirst(),
      ),
  }),
  del('/projects/:id/freeze_periods/:freeze_period_id', {
    summary: 'Remove a freeze period',
    access: maintainer,
    input: { freeze_period_id: Id },
    returns: nothing,
    handle: async ({ db, project, input, unmodified_since }) => {
      const period = found(
        undefined,
        await freezePeriodsOf(db, project).where('id', '=', input.freeze_period_id).executeTakeFirst(),
      );
      checkUnmodified(period.updated_at, unmodified_since);
      await db.deleteFrom('freeze_periods').where('id', '=', period.id).execute();
    },
  }),
];
