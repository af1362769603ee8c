/** Labels: words on issues and epics. Projects have their own, and those of the groups above them. Both kinds have the same routes. */
import { Type } from 'typebox';
import { groupFor, levels, type PlanningPlace, planningRole } from '../../../access/index.ts';
import {
  allOptional,
  atLeastOneOf,
  badRequest,
  type Caller,
  type Conditions,
  checkUnmodified,
  del,
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
  paginate,
  paging,
  post,
  put,
  type Services,
} from '../../../http/index.ts';
import { addLabel, changeLabel, type LabelChanges, subscribeToLabel } from './actions.ts';
import { isListed, type LabelScope, labelCounts, labelNamed, listedLabels, mentions } from './list_queries.ts';
import { GroupLabel, ProjectLabel, presentGroupLabel, presentProjectLabel } from './present.ts';
import { promoteLabel } from './promotion_actions.ts';
import { isOwnOf, labelPlace } from './queries.ts';

/** Who asks, and where. */
interface Granted {
  caller: Caller;
  place: PlanningPlace;
}

const ancestors = { include_ancestor_groups: Type.Boolean({ default: true, description: 'With those of the groups above' }) };
const descendants = {
  include_descendant_groups: Type.Boolean({ default: false, description: 'With those of the groups below' }),
  only_group_labels: Type.Boolean({ default: true, description: 'Without those of the projects' }),
};
const ofGroups = { ...ancestors, ...allOptional(descendants) };
const scopes = { group: ofGroups, project: ancestors as typeof ofGroups };

const Priority = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: 'The lowest number comes first' });
const shared = { description: nullable(Type.String()), archived: Type.Boolean() };
const ofProjects = allOptional({ ...shared, priority: nullable(Priority) });
// What both kinds have is optional, so that routes of groups may be typed as if they had a priority as well.
const fields = { project: ofProjects, group: allOptional(shared) as typeof ofProjects };
const Color = Type.String({ description: '`#rrggbb`, `#rgb` or the name that CSS has for it' });

const changed = {
  project: ['new_name', 'color', 'description', 'priority', 'archived'],
  group: ['new_name', 'color', 'description', 'archived'],
};

const NamedLabel = Type.String({ description: 'Id or title' });
const either = { label_id: optional(Id), name: optional(Type.String()) };

const present = ({ kind }: PlanningPlace, ...label: Parameters<typeof presentProjectLabel>) =>
  kind === 'project' ? presentProjectLabel(...label) : presentGroupLabel(...label);

const own = (services: Services, { caller, place }: Granted, id_or_title: string) =>
  labelNamed(services.db, caller, place, id_or_title, isOwnOf(labelPlace(place)));

const listed = (services: Services, { caller, place }: Granted, id_or_title: string, scope: LabelScope) =>
  labelNamed(services.db, caller, place, id_or_title, isListed(caller, place, scope));

async function change(services: Services, granted: Granted, id_or_title: string, { new_name, ...changes }: Changes) {
  const label = await own(services, granted, id_or_title);
  const place = labelPlace(granted.place);
  await services.db.transaction().execute((tx) => changeLabel(tx, place, label, { ...changes, title: new_name }));
  return present(granted.place, await own(services, granted, String(label.id)));
}
type Changes = Omit<LabelChanges, 'title'> & { new_name?: string };

async function remove(services: Services & Conditions, granted: Granted, id_or_title: string) {
  const label = await own(services, granted, id_or_title);
  checkUnmodified(label.updated_at, services.unmodified_since);
  await services.db.deleteFrom('labels').where('id', '=', label.id).execute();
}

async function subscribe(services: Services, granted: Granted, id_or_title: string, subscribed: boolean) {
  const label = await listed(services, granted, id_or_title, { include_ancestor_groups: true });
  if (!(await subscribeToLabel(services.db, { user_id: granted.caller.id, label_id: label.id, subscribed }))) throw notModified();
  return present(granted.place, { ...label, subscribed });
}

function routesOf(kind: PlanningPlace['kind']) {
  const base = `/${kind}s/:id/labels`;
  const reader = planningRole(kind, 'guest');
  const planner = planningRole(kind, 'planner');
  const Label = { project: ProjectLabel, group: GroupLabel }[kind];
  const changes = { new_name: optional(Type.String()), color: optional(Color), ...fields[kind] };
  const rules = [atLeastOneOf(...changed[kind])];
  const subscription = (verb: 'subscribe' | 'unsubscribe', summary: string) =>
    post(`${base}/:label_id/${verb}`, {
      summary,
      access: reader,
      input: { label_id: NamedLabel },
      returns: one(Label),
      handle: ({ caller, place, input, ...services }) =>
        subscribe(services, { caller, place }, input.label_id, verb === 'subscribe'),
    });
  return [
    get(base, {
      summary: `List the labels of a ${kind} by title`,
      access: reader,
      input: {
        ...paging,
        ...scopes[kind],
        with_counts: Type.Boolean({ default: false, description: 'With the number of issues and merge requests that bear each' }),
        search: optional(Type.String({ description: 'Part of the title or the description' })),
      },
      returns: pageOf(Label),
      handle: async ({ db, caller, place, input }) => {
        const query = listedLabels(db, caller, place)
          .where(isListed(caller, place, input))
          .$if(Boolean(input.search), (labels) => labels.where(mentions(input.search!)))
          .orderBy('labels.title')
          .orderBy('labels.id');
        const page = await paginate(db, query, input);
        const ids = page.items.map(({ id }) => id);
        const counts = input.with_counts ? await labelCounts(db, caller, ids) : undefined;
        return { ...page, items: page.items.map((label) => present(place, label, counts?.get(label.id))) };
      },
    }),
    get(`${base}/:label_id`, {
      summary: 'Show one label',
      access: reader,
      input: { label_id: NamedLabel, ...scopes[kind] },
      returns: one(Label),
      handle: async ({ caller, place, input, ...services }) =>
        present(place, await listed(services, { caller, place }, input.label_id, input)),
    }),
    post(base, {
      summary: `Add a label to a ${kind}`,
      access: planner,
      input: { name: Type.String(), color: Color, ...fields[kind] },
      returns: one(Label),
      handle: async ({ caller, place, input: { name, ...label }, ...services }) => {
        const id = await services.db.transaction().execute((tx) => addLabel(tx, labelPlace(place), { ...label, title: name }));
        return present(place, await own(services, { caller, place }, String(id)));
      },
    }),
    put(base, {
      summary: 'Change a label that a parameter names',
      deprecated: true,
      access: planner,
      input: { ...either, ...changes },
      rules: [exactlyOneOf('label_id', 'name'), ...rules],
      returns: one(Label),
      handle: ({ caller, place, input: { label_id, name, ...given }, ...services }) =>
        change(services, { caller, place }, String(label_id ?? name), given),
    }),
    put(`${base}/:label_id`, {
      summary: `Change a label of the ${kind} itself`,
      access: planner,
      input: { label_id: NamedLabel, ...changes },
      rules,
      returns: one(Label),
      handle: ({ caller, place, input: { label_id, ...given }, ...services }) =>
        change(services, { caller, place }, label_id, given),
    }),
    del(base, {
      summary: 'Remove a label that a parameter names',
      deprecated: true,
      access: planner,
      input: either,
      rules: [exactlyOneOf('label_id', 'name')],
      returns: nothing,
      handle: ({ caller, place, input, ...services }) =>
        remove(services, { caller, place }, String(input.label_id ?? input.name)),
    }),
    del(`${base}/:label_id`, {
      summary: `Remove a label of the ${kind} itself`,
      access: planner,
      input: { label_id: NamedLabel },
      returns: nothing,
      handle: ({ caller, place, input, ...services }) => remove(services, { caller, place }, input.label_id),
    }),
    subscription('subscribe', 'Hear of what bears a label'),
    subscription('unsubscribe', 'Hear no more of what bears a label'),
  ];
}

const promotion = put('/projects/:id/labels/:label_id/promote', {
  summary: "Make a label of a project one of its group, together with those of the same title in the group's other projects",
  access: planningRole('project', 'reporter'),
  input: { label_id: NamedLabel },
  returns: one(GroupLabel),
  handle: async ({ caller, place, input, ...services }) => {
    const label = await listed(services, { caller, place }, input.label_id, { include_ancestor_groups: true });
    const group = await groupFor(services.db, caller, String(place.namespace_id));
    if (!group || label.project_id === null) throw badRequest('Failed to promote project label to group label');
    if (group.access_level < levels.reporter) throw forbidden();
    const id = await services.db.transaction().execute((tx) => promoteLabel(tx, label, group.id));
    const at: PlanningPlace = { kind: 'group', id: group.id, name: group.name, namespace_id: group.id };
    return presentGroupLabel(await own(services, { caller, place: at }, String(id)));
  },
});

export const labelRoutes = [...routesOf('project'), ...routesOf('group'), promotion];
