/** The errors of a project (docs/reference/work_pages.md#errors). */
import type { Static } from 'typebox';
import { pageBelow } from '../../../access/index.ts';
import {
  type Content,
  type Field,
  facts,
  filterForm,
  form,
  hidden,
  html,
  type PageCall,
  page,
  pager,
  pagingOf,
  people,
  rows,
  type Seen,
  state,
  textIn,
  time,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { UserBasic } from '../../people/users/index.ts';
import { ErrorDetails, ErrorEvent, ErrorEventDetails, TrackedError } from '../../work/error_tracking/index.ts';
import { pathOf } from '../issuables/present.ts';
import { statesView } from '../issuables/views.ts';
import { errorReleasesPage } from './release_pages.ts';
import { setupView } from './setup_views.ts';
import { barsView, stackView, suspectView, tagsView } from './views.ts';

type ShownError = Static<typeof TrackedError>;

const statuses = ['unresolved', 'resolved', 'ignored'] as const;

const filters: readonly Field[] = [
  { name: 'query', label: 'Search' },
  { name: 'environment', label: 'Environment' },
  { name: 'release', label: 'Release' },
  {
    name: 'order_by',
    label: 'Order',
    kind: 'select',
    options: [
      { value: '', label: 'Last seen first' },
      { value: 'first_seen', label: 'First seen first' },
      { value: 'frequency', label: 'Most events' },
      { value: 'users', label: 'Most users' },
    ],
  },
];

const row = (error: ShownError, seen: Seen) =>
  html`${
    seen.may('several') &&
    html`<input type="checkbox" name="ids[]" value="${error.id}" form="several" aria-label="${`Choose ${error.title}`}"> `
  }<a class="title" href="${pathOf(error.web_url)}">${error.title}</a> ${state(error.level)}
<div class="soft">${error.actor && html`in <code>${error.actor}</code>, `}${counted(error.events_count, 'event')}, ${counted(error.users_count, 'user')}, last seen ${time(error.last_seen_at)}, first ${time(error.first_seen_at)}${error.last_release && html`, release ${error.last_release}`}${error.assignee && html`, assigned to ${people([error.assignee])}`}${error.issue && html`, <a href="${pathOf(error.issue.web_url)}">#${error.issue.iid}</a>`}</div>`;

const statusOptions = [
  { value: 'resolved', label: 'Resolved' },
  { value: 'ignored', label: 'Ignored' },
  { value: 'unresolved', label: 'Unresolved' },
];

/** What a project without unresolved errors shows: how to send some, unless it had some. */
async function setupFor(call: PageCall): Promise<Content> {
  const any = await call.list(TrackedError, 'listErrors', { per_page: 1, status: 'all' });
  if (any.items.length > 0) return undefined;
  const found = await call.perhaps(call.described('listErrorTrackingClientKeys', { per_page: 1 }));
  const [key] = found ? (found.reply as { items: { sentry_dsn: string }[] }).items : [];
  return setupView(key?.sentry_dsn, found && pageBelow.project(call.params.id!, 'settings/operations'));
}

const errorsPage = page('/:id/-/error_tracking', {
  load: async (call) => {
    const { list, params, query } = call;
    const status = textIn(query, 'status') ?? 'unresolved';
    const named = filters.flatMap(({ name }) => {
      const value = textIn(query, name);
      return value === undefined ? [] : [[name, value]];
    });
    const asked = { ...Object.fromEntries(named), ...pagingOf({ query }), status };
    const errors = await list(TrackedError, 'listErrors', asked);
    const isFirst = errors.items.length === 0 && status === 'unresolved' && named.length === 0;
    return { id: params.id!, status, errors, setup: isFirst ? await setupFor(call) : undefined };
  },
  forms: { several: { runs: 'updateErrors' } },
  view: ({ id, status, errors, setup }, seen) => ({
    title: ['Errors', id],
    place: { id, kind: 'project', tab: 'errors' },
    main: html`${statesView(
      seen,
      status,
      statuses.map((each) => [each, `${each.charAt(0).toUpperCase()}${each.slice(1)}`] as const),
      'status',
    )}
${filterForm(seen, [...filters, hidden('status', status)], 'Filter')}
${
  setup ??
  rows(
    errors.items.map((each) => row(each, seen)),
    status === 'unresolved' ? 'There are no unresolved errors that match.' : 'No errors match.',
  )
}
${
  errors.items.length > 0 &&
  form(seen, 'several', {
    fields: [{ name: 'status', label: 'Mark the chosen ones as', kind: 'select', options: statusOptions }],
    button: 'Change the chosen ones',
    look: 'plain',
  })
}
${pager(errors, seen)}`,
  }),
});

const errorPage = page('/:id/-/error_tracking/:error_id/details', {
  load: async (call) => {
    const { one, list, perhaps, params, query } = call;
    const error = await one(ErrorDetails, 'getError');
    const event_id = textIn(query, 'event') ?? error.latest_event?.id;
    const [event, events, candidates] = await Promise.all([
      event_id === undefined ? undefined : perhaps(one(ErrorEventDetails, 'getErrorEvent', { event_id })),
      list(ErrorEvent, 'listErrorEvents', { ...pagingOf(call, 'events'), per_page: 10 }),
      call.caller ? perhaps(list(UserBasic, 'listProjectUsers', { per_page: 100 })) : undefined,
    ]);
    return { id: params.id!, error, event, events, people: candidates?.items ?? [], url: call.services.url };
  },
  forms: {
    change: { runs: 'updateError' },
    issue: {
      runs: 'createIssueOfError',
      next: ({ web_url }: { web_url: string }) => pathOf(web_url),
    },
    remove: { runs: 'deleteError', next: (_: never, { path }: PageCall) => path.replace(/\/[^/]+\/details$/, '') },
  },
  view: ({ id, error, event, events, people: candidates, url }, seen) => {
    const mark = (status: string, button: string, look?: 'plain') =>
      form(seen, 'change', { fields: [hidden('status', status)], button, key: status, ...(look ? { look } : {}) });
    return {
      title: [error.title, 'Errors', id],
      place: { id, kind: 'project', tab: 'errors' },
      main: html`<p>${state(error.status)} ${state(error.level)} ${error.actor && html`in <code>${error.actor}</code>`} <span class="soft">${counted(error.events_count, 'event')}, ${counted(error.users_count, 'user')}</span></p>
<div class="actions">${
        error.status === 'unresolved'
          ? [mark('resolved', 'Resolve'), ' ', mark('ignored', 'Ignore', 'plain')]
          : mark('unresolved', 'Mark as unresolved', 'plain')
      } ${error.issue === null && form(seen, 'issue', { button: 'Create issue', look: 'plain' })}</div>
<div class="columns"><div>
${event && suspectView(event.stack_trace_entries, url)}
<h2>Stack</h2>
${event ? stackView(event.stack_trace_entries, url) : html`<p class="soft">There is no event to show.</p>`}
${
  event &&
  facts([
    ['Event', html`<code>${event.event_id}</code>`],
    ['Occurred', time(event.occurred_at)],
    ['Environment', event.environment],
    ['Release', event.release],
    ['User', event.user && (event.user.username ?? event.user.email ?? event.user.id ?? event.user.ip_address)],
    ['What the user says', event.user_report?.comments],
  ])
}
<h2>Tags</h2>
${tagsView(error.tags)}
<h2>Events</h2>
${rows(
  events.items.map(
    (each) =>
      html`<a href="${`${seen.path}?event=${each.id}`}">${time(each.occurred_at)}</a> <span class="soft">${each.environment} ${each.release}</span>`,
  ),
  'Its events are no longer kept.',
)}
${pager(events, seen, 'events')}
</div>
<section aria-label="About the error">
<h2>24 hours</h2>${barsView(error.stats['24h'], 'hour')}
<h2>30 days</h2>${barsView(error.stats['30d'], 'day')}
${facts([
  ['First seen', time(error.first_seen_at)],
  ['Last seen', time(error.last_seen_at)],
  ['First release', error.first_release],
  ['Last release', error.last_release],
  ['Assignee', error.assignee && people([error.assignee])],
  ['Issue', error.issue && html`<a href="${pathOf(error.issue.web_url)}">${error.issue.title}</a>`],
])}
${form(seen, 'change', {
  fields: [
    {
      name: 'assignee_id',
      label: 'Assign to',
      kind: 'select',
      value: error.assignee?.id ?? '',
      options: [
        { value: '', label: 'Nobody' },
        ...candidates.map(({ id: value, name, username }) => ({ value, label: `${name} (@${username})` })),
      ],
      is_clearable: 'null',
    },
  ],
  button: 'Assign',
  look: 'plain',
  key: 'assignee',
})}
${form(seen, 'remove', { button: 'Delete error', look: 'danger' })}
</section></div>`,
    };
  },
});

export const errorPages = [errorsPage, errorReleasesPage, errorPage];
