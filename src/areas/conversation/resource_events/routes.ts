/** Resource events: changes to the labels, state, milestone, weight and iteration of an issuable. */
import type { IssuableKind } from '../../../access/index.ts';
import {
  type AnyEndpoint,
  capitalized,
  found,
  get,
  Id,
  one,
  type Plan,
  pageOf,
  withArticle,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { forms, presenters } from './present.ts';
import { type EventKind, eventsOn } from './queries.ts';

/** A kind of noteable with resource events. */
export interface EventSubject {
  kind: IssuableKind;
  /** The kinds of events that it has. */
  events: readonly EventKind[];
}

const plans: { [K in EventKind]?: Plan } = { weight: 'premium', iteration: 'premium' };

function routesOf<K extends EventKind>(event: K, { kind }: EventSubject): AnyEndpoint[] {
  const plan = plans[event];
  const base = `${kind.discussed_at.path}/resource_${event}_events`;
  const Kind = capitalized(event);
  const form = forms[event];
  const present = presenters[event];
  const shared = { access: kind.discussed_at.visible(), ...(plan ? { plan } : {}) };
  return [
    get(base, {
      operation: `list${kind.type}${Kind}Events`,
      summary: `List the ${event} events of ${withArticle(kind.name)}, oldest first`,
      ...shared,
      input: paging,
      returns: pageOf(form),
      handle: async ({ db, url, on, input }) => {
        const page = await paginate(db, eventsOn(db, event, on), input);
        return { ...page, items: await present({ db, url }, on, page.items) };
      },
    }),
    get(`${base}/:event_id`, {
      operation: `get${kind.type}${Kind}Event`,
      summary: `Get ${event === 'iteration' ? 'an' : 'a'} ${event} event of ${withArticle(kind.name)}`,
      ...shared,
      input: { event_id: Id },
      returns: one(form),
      refusals: { 404: `404 Resource${Kind}Event Not Found` },
      handle: async ({ db, url, on, input }) => {
        const query = eventsOn(db, event, on).where('event.id', '=', input.event_id);
        const [shown] = await present({ db, url }, on, await query.execute());
        return found(`Resource${Kind}Event`, shown);
      },
    }),
  ];
}

/** The events of issues, or of epics. */
export const resourceEventRoutes = (subject: EventSubject): AnyEndpoint[] =>
  subject.kind.endpoints(subject.events.flatMap((event) => routesOf(event, subject)));
