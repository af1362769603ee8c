/** The parameters of lists of issues and of their statistics (docs/reference/issues.md). */
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { allOptional, CommaList, Id, Iid, optional, type Rule, since, valuesSince } from '../../../../http/index.ts';
import { authorFilters, exclusiveRules, filtersWith, IdOr, MilestoneTitle } from '../../issuables/list_parameters.ts';
import { dueDates } from '../due_date_rules.ts';
import { healths, issueFields } from '../fields.ts';
import { orderNames } from './order_rules.ts';

/** The filters that both a list and its `not` accept. */
const either = () => ({
  ...authorFilters(),
  milestone: optional(MilestoneTitle()),
  milestone_id: optional(Type.Enum(['None', 'Any', 'Upcoming', 'Started'])),
  iids: optional(CommaList(Iid)),
  assignee_id: optional(IdOr('`None` or `Any`')),
  assignee_username: optional(CommaList(Type.String())),
  iteration_id: optional(since('premium', IdOr('`None`, `Any` or `Current`'))),
  iteration_title: optional(since('premium', Type.String())),
  weight: optional(since('premium', Type.String({ description: 'A number, `None` or `Any`' }))),
});

const exclusions = [
  ['author_id', 'author_username'],
  ['assignee_id', 'assignee_username'],
  ['milestone', 'milestone_id'],
  ['iteration_id', 'iteration_title'],
] as const;

export const listRules: readonly Rule[] = exclusiveRules(exclusions);

const health = [...healths, 'None', 'none', 'Any', 'any'] as const;

/** The filters of the lists and of the statistics, without `scope`. */
export const statisticsFilters = {
  ...filtersWith(either),
  ...allOptional({
    confidential: Type.Boolean(),
    epic_id: since('premium', IdOr('`None` or `Any`')),
    health_status: since('ultimate', Type.Enum([...health])),
  }),
} satisfies TProperties;

/** Filters and form of the lists of a board, which determine the state and sort order themselves. */
export const boardFilters = {
  ...statisticsFilters,
  due_date: optional(Type.Enum([...dueDates, ''], { description: 'Empty: any' })),
  issue_type: optional(issueFields.issue_type.input),
  closed_by_id: optional(Id),
  with_labels_details: Type.Boolean({ default: false }),
};

/** The filters, order and form of the lists, without `scope` and `non_archived`. */
export const listFilters = {
  ...boardFilters,
  state: Type.Enum(['opened', 'closed', 'all'], { default: 'all' }),
  order_by: valuesSince({ weight: 'premium' }, Type.Enum(orderNames, { default: 'created_at' })),
  sort: Type.Enum(['asc', 'desc'], { default: 'desc' }),
};

const scopes = ['created_by_me', 'assigned_to_me', 'all', 'created-by-me', 'assigned-to-me'] as const;

/** The scope of issues to list; defaults to all. */
export const anyScope = { scope: optional(Type.Enum([...scopes])) };
/** The same; defaults to the caller's own. */
export const ownScope = { scope: Type.Enum([...scopes], { default: 'created_by_me' }) };
export const nonArchived = {
  non_archived: Type.Boolean({ default: true, description: 'Exclude issues of archived projects' }),
};

type Given<P extends TProperties> = Partial<Static<TObject<P>>>;
/** The given filters; a list with fewer filters omits the others. */
export type IssueFilters = Given<typeof listFilters> & Given<typeof anyScope> & Given<typeof nonArchived>;
export type Excluded = NonNullable<IssueFilters['not']>;
