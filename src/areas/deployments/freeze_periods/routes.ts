/** Freeze periods: time spans, each defined by two cron lines, in which a project must not be deployed. */
import { Type } from 'typebox';
import { type Project, projectRole } from '../../../access/index.ts';
import { columnsOf, type Database, stamped } from '../../../db/index.ts';
import {
  allOptional,
  checked,
  checkUnmodified,
  del,
  deleteFound,
  found,
  get,
  Id,
  invalid,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { freezeStateOf, maximumPeriods } from './queries.ts';
import { cronReasons, timeZoneReasons } from './rules.ts';

const Cron = () => checked(Type.String({ description: 'Cron line of five fields, e.g. `0 23 * * 5`' }), cronReasons);
const TimeZone = () => checked(Type.String({ description: 'IANA or Rails name of a time zone' }), timeZoneReasons);

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

const FreezeStatus = resource('FreezeStatus', {
  frozen: Type.Boolean(),
  until: nullable(
    Type.String({
      format: 'date-time',
      description: 'When the freeze ends; null when the project is not frozen or the freeze has no end',
    }),
  ),
  freeze_period_id: nullable(Id),
  next_start: nullable(
    Type.String({
      format: 'date-time',
      description: 'When the next freeze begins, after the end of the current one; null when there is none',
    }),
  ),
});

interface NewFreezePeriod {
  freeze_start: string;
  freeze_end: string;
  cron_timezone?: string;
}

const tooManyText = `Maximum number of freeze periods (${maximumPeriods}) exceeded`;
const tooMany = () => invalid({ base: [tooManyText] });

/** Adds a period, up to the limit of the project. Locks the row of the project, so that concurrent requests cannot exceed the limit. */
const addFreezePeriod = (db: Database, project: Project, period: NewFreezePeriod) =>
  db.transaction().execute(async (tx) => {
    await tx.selectFrom('projects').select('id').where('id', '=', project.id).forNoKeyUpdate().executeTakeFirst();
    const { count } = await tx
      .selectFrom('freeze_periods')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('project_id', '=', project.id)
      .executeTakeFirstOrThrow();
    if (count >= maximumPeriods) throw tooMany();
    return tx
      .insertInto('freeze_periods')
      .values({ ...trimmed(period), project_id: project.id })
      .returning(columns)
      .executeTakeFirstOrThrow();
  });

/** Trims the cron lines. */
const trimmed = <S extends { freeze_start?: string; freeze_end?: string }>(given: S): S => ({
  ...given,
  ...(given.freeze_start === undefined ? {} : { freeze_start: given.freeze_start.trim() }),
  ...(given.freeze_end === undefined ? {} : { freeze_end: given.freeze_end.trim() }),
});

const reader = projectRole('reporter', { feature: 'environments' });
const maintainer = projectRole('maintainer', { feature: 'environments' });

export const freezePeriods = [
  get('/projects/:id/freeze_periods', {
    operation: 'listFreezePeriods',
    summary: 'List the freeze periods of a project, oldest first',
    access: reader,
    input: paging,
    returns: pageOf(FreezePeriod),
    handle: ({ db, project, input }) =>
      paginate(db, freezePeriodsOf(db, project).orderBy('created_at').orderBy('id'), input),
  }),
  get('/projects/:id/freeze_periods/:freeze_period_id', {
    operation: 'getFreezePeriod',
    summary: 'Get a freeze period',
    access: reader,
    input: { freeze_period_id: Id },
    returns: one(FreezePeriod),
    handle: async ({ db, project, input }) =>
      found(undefined, await freezePeriodsOf(db, project).where('id', '=', input.freeze_period_id).executeTakeFirst()),
  }),
  post('/projects/:id/freeze_periods', {
    operation: 'createFreezePeriod',
    summary: 'Create a freeze period',
    description: `A project has at most ${maximumPeriods} freeze periods.`,
    access: maintainer,
    input: { ...span, cron_timezone: optional(TimeZone()) }, // if omitted, the column defaults to UTC
    returns: one(FreezePeriod),
    refusals: { 400: `base: ${tooManyText}` },
    handle: ({ db, project, input }) => addFreezePeriod(db, project, input),
  }),
  put('/projects/:id/freeze_periods/:freeze_period_id', {
    operation: 'updateFreezePeriod',
    summary: 'Update a freeze period',
    access: maintainer,
    input: { freeze_period_id: Id, ...allOptional(span) },
    returns: one(FreezePeriod),
    handle: async ({ db, project, input: { freeze_period_id, ...changes } }) =>
      found(
        undefined,
        await db
          .updateTable('freeze_periods')
          .set(stamped(trimmed(changes)))
          .where('project_id', '=', project.id)
          .where('id', '=', freeze_period_id)
          .returning(columns)
          .executeTakeFirst(),
      ),
  }),
  del('/projects/:id/freeze_periods/:freeze_period_id', {
    operation: 'deleteFreezePeriod',
    summary: 'Delete a freeze period',
    access: maintainer,
    input: { freeze_period_id: Id },
    conditional: true,
    returns: nothing,
    handle: async ({ db, project, input, unmodified_since }) => {
      const period = found(
        undefined,
        await freezePeriodsOf(db, project).where('id', '=', input.freeze_period_id).executeTakeFirst(),
      );
      checkUnmodified(period.updated_at, unmodified_since);
      await deleteFound(db, 'freeze_periods', period.id);
    },
  }),
  get('/projects/:id/freeze_status', {
    operation: 'getFreezeStatus',
    summary: 'Get the freeze status of a project',
    description:
      'If the project sets `freeze_blocks_pushes`, its protected branches cannot be changed while it is frozen.',
    access: reader,
    returns: one(FreezeStatus),
    handle: async ({ db, project }) => {
      const { frozen, changes_at, period } = await freezeStateOf(db, project.id);
      const change = changes_at?.toISOString() ?? null;
      if (!frozen) return { frozen, until: null, freeze_period_id: null, next_start: change };
      const after = changes_at && (await freezeStateOf(db, project.id, changes_at));
      const next_start = after?.changes_at?.toISOString() ?? null;
      return { frozen, until: change, freeze_period_id: period?.id ?? null, next_start };
    },
  }),
];
