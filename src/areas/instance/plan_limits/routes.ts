/** Limits that administrators set for the whole server (docs/reference/plan_limits.md). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import { allOptional, checked, get, one, optional, put, resource } from '../../../http/index.ts';
import { type LimitName, limitsOf, storedNames } from './queries.ts';

const names: readonly LimitName[] = [...storedNames, 'project_feature_flags'];
const each = <S>(schema: S) => Object.fromEntries(names.map((name) => [name, schema])) as Record<LimitName, S>;

const PlanLimits = resource('PlanLimits', each(Type.Integer({ description: '0: no limit' })));

/** The plan of a server that does not sell plans. */
const plan_name = Type.Enum(['default']);

const belowZero = 'must be greater than or equal to 0';
const Limit = checked(Type.Integer({ maximum: Number.MAX_SAFE_INTEGER }), (limit) => (limit < 0 ? [belowZero] : []));

/** A column of this setting holds four bytes. */
const FlagLimit = checked(Type.Integer({ maximum: 2 ** 31 - 1 }), (limit) => (limit < 0 ? [belowZero] : []));

export const planLimitRoutes = [
  get('/application/plan_limits', {
    operation: 'getPlanLimits',
    summary: 'Show the limits of the server',
    access: admin,
    input: { plan_name: optional(plan_name) },
    returns: one(PlanLimits),
    handle: ({ db }) => limitsOf(db),
  }),
  put('/application/plan_limits', {
    operation: 'updatePlanLimits',
    summary: 'Update the limits of the server',
    description: 'Limits of what the server does not do are stored without effect.',
    access: admin,
    input: { plan_name, ...allOptional({ ...each(Limit), project_feature_flags: FlagLimit }) },
    returns: one(PlanLimits),
    handle: ({ db, input: { plan_name: _plan, project_feature_flags, ...given } }) =>
      db.transaction().execute(async (tx) => {
        const changed = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
        await sql`update plan_limits set limits = limits || ${JSON.stringify(changed)}::jsonb`.execute(tx);
        if (project_feature_flags !== undefined)
          await tx
            .updateTable('application_settings')
            .set({ project_feature_flags_limit: project_feature_flags })
            .execute();
        return limitsOf(tx);
      }),
  }),
];
