/**
 * Labels of issuables. Projects have their own labels and those of their ancestor groups. Both kinds have the same
 * routes.
 */
import { Type } from 'typebox';
import { groupFor, levels, type PlanningParent, planningRole } from '../../../access/index.ts';
import {
  allOptional,
  atLeastOneOf,
  badRequest,
  type Caller,
  type Conditions,
  capitalized,
  checkUnmodified,
  del,
  deleteFound,
  exactlyOneOf,
  forbidden,
  get,
  Id,
  nothing,
  notModified,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  type Services,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { addLabel, changeLabel, type LabelChanges, subscribeToLabel } from './actions.ts';
import { isListed, type LabelScope, labelCounts, labelNamed, listedLabels, mentions } from './list_queries.ts';
import {
  GroupLabel,
  type ListedLabelRow,
  labelDetails,
  ProjectLabel,
  presentGroupLabel,
  presentProjectLabel,
} from './present.ts';
import { promoteLabel } from './promotion_actions.ts';
import { isOwnOf, labelParent } from './queries.ts';

/** The caller, and the project or group. */
interface Granted {
  caller: Caller;
  parent: PlanningParent;
}

const ancestors = {
  include_ancestor_groups: Type.Boolean({ default: true, description: 'Include those of ancestor groups' }),
};
const descendants = {
  include_descendant_groups: Type.Boolean({ default: false, description: 'Include those of subgroups' }),
  only_group_labels: Type.Boolean({ default: true, description: 'Exclude those of projects' }),
};
const ofGroups = { ...ancestors, ...allOptional(descendants) };
const scopes = { group: ofGroups, project: ancestors as typeof ofGroups };

const Priority = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: 'The lowest number comes first' });
const shared = { description: nullable(Type.String()), archived: Type.Boolean() };
const ofProjects = allOptional({ ...shared, priority: nullable(Priority) });
// `priority` is optional, so that the routes of groups can have the same types.
const fields = { project: ofProjects, group: allOptional(shared) as typeof ofProjects };
const Color = Type.String({ description: '`#rrggbb`, `#rgb` or a CSS name' });

const changed = {
  project: ['new_name', 'color', 'description', 'priority', 'archived'],
  group: ['new_name', 'color', 'description', 'archived'],
};

const NamedLabel = Type.String({ description: 'ID or title' });
const either = { label_id: optional(Id), name: optional(Type.String()) };

const present = ({ kind }: PlanningParent, ...label: Parameters<typeof presentProjectLabel>) =>
  kind === 'project' ? presentProjectLabel(...label) : presentGroupLabel(...label);

async function presentOne(parent: PlanningParent, label: ListedLabelRow) {
  const details = await labelDetails([label]);
  return present(parent, label, details.get(label.id)!);
}

const own = (services: Services, { caller, parent }: Granted, id_or_title: string) =>
  labelNamed(services.db, caller, parent, id_or_title, isOwnOf(labelParent(parent)));

const listed = (services: Services, { caller, parent }: Granted, id_or_title: string, scope: LabelScope) =>
  labelNamed(services.db, caller, parent, id_or_title, isListed(caller, parent, scope));

async function change(services: Services, granted: Granted, id_or_title: string, { new_name, ...changes }: Changes) {
  const label = await own(services, granted, id_or_title);
  const parent = labelParent(granted.parent);
  await services.db.transaction().execute((tx) => changeLabel(tx, parent, label, { ...changes, title: new_name }));
  return presentOne(granted.parent, await own(services, granted, String(label.id)));
}
type Changes = Omit<LabelChanges, 'title'> & { new_name?: string };

async function remove(services: Services & Conditions, granted: Granted, id_or_title: string) {
  const label = await own(services, granted, id_or_title);
  checkUnmodified(label.updated_at, services.unmodified_since);
  await deleteFound(services.db, 'labels', label.id, 'Label');
}

async function subscribe(services: Services, granted: Granted, id_or_title: string, subscribed: boolean) {
  const label = await listed(services, granted, id_or_title, { include_ancestor_groups: true });
  if (!(await subscribeToLabel(services.db, { user_id: granted.caller.id, label_id: label.id, subscribed })))
    throw notModified();
  return presentOne(granted.parent, { ...label, subscribed });
}

const subscribed = { subscribe: 'The caller is already subscribed.', unsubscribe: 'The caller is not subscribed.' };

function routesOf(kind: PlanningParent['kind']) {
  const base = `/${kind}s/:id/labels`;
  const Noun = capitalized(kind);
  const reader = planningRole(kind, 'guest');
  const planner = planningRole(kind, 'planner');
  const Label = { project: ProjectLabel, group: GroupLabel }[kind];
  const changes = { new_name: optional(Type.String()), color: optional(Color), ...fields[kind] };
  const rules = [atLeastOneOf(...changed[kind])];
  const subscription = (verb: 'subscribe' | 'unsubscribe', summary: string) =>
    post(`${base}/:label_id/${verb}`, {
      operation: verb === 'subscribe' ? `subscribeTo${Noun}Label` : `unsubscribeFrom${Noun}Label`,
      summary,
      access: reader,
      input: { label_id: NamedLabel },
      returns: one(Label),
      refusals: { 304: subscribed[verb], 404: '404 Label Not Found' },
      handle: ({ caller, parent, input, ...services }) =>
        subscribe(services, { caller, parent }, input.label_id, verb === 'subscribe'),
    });
  return [
    get(base, {
      operation: `list${Noun}Labels`,
      summary: `List the labels of a ${kind}, by title`,
      access: reader,
      input: {
        ...paging,
        ...scopes[kind],
        with_counts: Type.Boolean({ default: false, description: 'Include counts of issues and merge requests' }),
        search: optional(Type.String({ description: 'Part of the title or the description' })),
      },
      returns: pageOf(Label),
      handle: async ({ db, caller, parent, input }) => {
        const query = listedLabels(db, caller, parent)
          .where(isListed(caller, parent, input))
          .$if(Boolean(input.search), (labels) => labels.where(mentions(input.search!)))
          .orderBy('labels.title')
          .orderBy('labels.id');
        const page = await paginate(db, query, input);
        const ids = page.items.map(({ id }) => id);
        const counts = input.with_counts ? await labelCounts(db, caller, ids) : undefined;
        const details = await labelDetails(page.items);
        return mapPage(page, (label) => present(parent, label, details.get(label.id)!, counts?.get(label.id)));
      },
    }),
    get(`${base}/:label_id`, {
      operation: `get${Noun}Label`,
      summary: 'Get a label',
      access: reader,
      input: { label_id: NamedLabel, ...scopes[kind] },
      returns: one(Label),
      refusals: { 404: '404 Label Not Found' },
      handle: async ({ caller, parent, input, ...services }) =>
        presentOne(parent, await listed(services, { caller, parent }, input.label_id, input)),
    }),
    post(base, {
      operation: `create${Noun}Label`,
      summary: `Create a ${kind} label`,
      access: planner,
      input: { name: Type.String(), color: Color, ...fields[kind] },
      returns: one(Label),
      refusals: { 400: '<parameter>: <reason>', 409: 'Label already exists' },
      handle: async ({ caller, parent, input: { name, ...label }, ...services }) => {
        const id = await services.db
          .transaction()
          .execute((tx) => addLabel(tx, labelParent(parent), { ...label, title: name }));
        return presentOne(parent, await own(services, { caller, parent }, String(id)));
      },
    }),
    put(base, {
      operation: `update${Noun}LabelByName`,
      summary: 'Update a label by its ID or title',
      deprecated: true,
      access: planner,
      input: { ...either, ...changes },
      rules: [exactlyOneOf('label_id', 'name'), ...rules],
      returns: one(Label),
      refusals: { 400: '<parameter>: <reason>', 404: '404 Label Not Found' },
      handle: ({ caller, parent, input: { label_id, name, ...given }, ...services }) =>
        change(services, { caller, parent }, String(label_id ?? name), given),
    }),
    put(`${base}/:label_id`, {
      operation: `update${Noun}Label`,
      summary: `Update a ${kind} label`,
      access: planner,
      input: { label_id: NamedLabel, ...changes },
      rules,
      returns: one(Label),
      refusals: { 400: '<parameter>: <reason>', 404: '404 Label Not Found' },
      handle: ({ caller, parent, input: { label_id, ...given }, ...services }) =>
        change(services, { caller, parent }, label_id, given),
    }),
    del(base, {
      operation: `delete${Noun}LabelByName`,
      summary: 'Delete a label by its ID or title',
      deprecated: true,
      access: planner,
      input: either,
      rules: [exactlyOneOf('label_id', 'name')],
      conditional: true,
      returns: nothing,
      refusals: { 404: '404 Label Not Found' },
      handle: ({ caller, parent, input, ...services }) =>
        remove(services, { caller, parent }, String(input.label_id ?? input.name)),
    }),
    del(`${base}/:label_id`, {
      operation: `delete${Noun}Label`,
      summary: `Delete a ${kind} label`,
      access: planner,
      input: { label_id: NamedLabel },
      conditional: true,
      returns: nothing,
      refusals: { 404: '404 Label Not Found' },
      handle: ({ caller, parent, input, ...services }) => remove(services, { caller, parent }, input.label_id),
    }),
    subscription('subscribe', 'Subscribe to a label'),
    subscription('unsubscribe', 'Unsubscribe from a label'),
  ];
}

const promotion = put('/projects/:id/labels/:label_id/promote', {
  operation: 'promoteProjectLabel',
  summary: 'Promote a label to a group label',
  access: planningRole('project', 'reporter'),
  input: { label_id: NamedLabel },
  returns: one(GroupLabel),
  refusals: { 400: 'Failed to promote project label to group label', 404: '404 Label Not Found' },
  handle: async ({ caller, parent, input, ...services }) => {
    const label = await listed(services, { caller, parent }, input.label_id, { include_ancestor_groups: true });
    const group = await groupFor(services.db, caller, String(parent.namespace_id));
    if (!group || label.project_id === null) throw badRequest('Failed to promote project label to group label');
    if (group.access_level < levels.reporter) throw forbidden();
    const id = await services.db.transaction().execute((tx) => promoteLabel(tx, label, group.id));
    const at: PlanningParent = { kind: 'group', id: group.id, name: group.name, namespace_id: group.id };
    return presentOne(at, await own(services, { caller, parent: at }, String(id)));
  },
});

export const labelRoutes = [...routesOf('project'), ...routesOf('group'), promotion];
