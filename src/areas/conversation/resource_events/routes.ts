/** Resource events: what happened to the labels, state, milestone, weight and iteration of an issue or epic. */
import { epicVisible, issueVisible } from '../../../access/index.ts';
import { type Access, type AnyEndpoint, found, get, Id, one, type Plan, pageOf, paginate, paging } from '../../../http/index.ts';
import type { Resource } from './actions.ts';
import { forms, presenters } from './present.ts';
import { eventsOn, type Kind } from './queries.ts';

interface Parent {
  path: string;
  name: string;
  access: Access<{ on: Resource }>;
  kinds: readonly Kind[];
  plan?: Plan;
}

const parents: readonly Parent[] = [
  {
    path: '/projects/:id/issues/:issue_iid',
    name: 'an issue',
    access: { rule: issueVisible.rule, check: async (call) => ({ on: { issue_id: (await issueVisible.check(call)).issue.id } }) },
    kinds: ['label', 'state', 'milestone', 'weight', 'iteration'],
  },
  {
    path: '/groups/:id/epics/:epic_iid',
    name: 'an epic',
    access: { rule: epicVisible.rule, check: async (call) => ({ on: { epic_id: (await epicVisible.check(call)).epic.id } }) },
    kinds: ['label', 'state'],
    plan: 'premium',
  },
];

const plans: { [K in Kind]?: Plan } = { weight: 'premium', iteration: 'premium' };

function routesOf<K extends Kind>(kind: K, { path, name, access, plan = plans[kind] }: Parent): AnyEndpoint[] {
  const base = `${path}/resource_${kind}_events`;
  const form = forms[kind];
  const present = presenters[kind];
  const shared = { access, ...(plan ? { plan } : {}) };
  return [
    get(base, {
      summary: `List the ${kind} events of ${name}, oldest first`,
      ...shared,
      input: paging,
      returns: pageOf(form),
      handle: async ({ db, url, on, input }) => {
        const page = await paginate(db, eventsOn(db, kind, on), input);
        return { ...page, items: await present({ db, url }, on, page.items) };
      },
    }),
    get(`${base}/:event_id`, {
      summary: `Show one ${kind} event of ${name}`,
      ...shared,
      input: { event_id: Id },
      returns: one(form),
      handle: async ({ db, url, on, input }) => {
        const query = eventsOn(db, kind, on).where('event.id', '=', input.event_id);
        const [event] = await present({ db, url }, on, await query.execute());
        return found(`Resource${kind[0]!.toUpperCase()}${kind.slice(1)}Event`, event);
      },
    }),
  ];
}

export const resourceEventRoutes = parents.flatMap((parent) => parent.kinds.flatMap((kind) => routesOf(kind, parent)));
