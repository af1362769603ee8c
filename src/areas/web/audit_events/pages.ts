/** Who did what: on the server, in a group, in a project (docs/reference/audit_events.md#pages). */
import type { Page as ListPage, Values } from '../../../http/index.ts';
import { type Field, filePage, html, type PageCall, textIn, time, withQuery } from '../../../pages/index.ts';
import { part, settingsPage } from '../declared/definition.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted } from '../declared/views.ts';
import { csvOf, type Listed, textOfDetails } from './csv_present.ts';

type Operation = 'listAuditEvents' | 'listGroupAuditEvents' | 'listProjectAuditEvents';

const filters: readonly Field[] = [
  { name: 'author_username', label: 'Username of the author' },
  { name: 'event_name', label: 'Name of the event' },
  { name: 'created_after', label: 'From', kind: 'date' },
  { name: 'created_before', label: 'Before', kind: 'date' },
];

const entityFilters: readonly Field[] = [
  {
    name: 'entity_type',
    label: 'About',
    kind: 'select',
    options: [
      { value: '', label: 'Anything' },
      { value: 'User', label: 'Users' },
      { value: 'Group', label: 'Groups' },
      { value: 'Project', label: 'Projects' },
      { value: 'Gitlab::Audit::InstanceScope', label: 'The server' },
    ],
  },
  { name: 'entity_id', label: 'Its number', kind: 'number' },
];

const listOf = (list: Operation, own: readonly Field[] = []) =>
  listPart('event', {
    list,
    filters: [...filters, ...own],
    names: ({ id }) => ({ id: Number(id) }),
    title: 'event_name',
    line: (item) => {
      const { details, created_at } = item as unknown as Listed;
      return dotted([
        html`${details.author_name}${details.as === undefined ? '' : ` as ${details.as}`}`,
        textOfDetails(details),
        details.target_details ?? '',
        details.entity_path,
        details.ip_address ?? '',
        time(created_at),
      ]);
    },
    empty: 'No event is found.',
  });

const csvLink = part<true>({
  load: async () => true,
  view: (_data, seen) => {
    const query = withQuery(seen, { page_event: undefined }).replace(/^[^?]*/, '');
    return html`<p><a href="${`${seen.path}.csv${query}`}" download>As CSV</a></p>`;
  },
});

/** The number of events in a file, at most: further ones are in the files of other days. */
const mostInFile = 10_000;

async function eventsOf(call: PageCall, list: Operation): Promise<Listed[]> {
  const asked = Object.fromEntries(
    [...filters, ...entityFilters].flatMap(({ name }) => {
      const text = textIn(call.query, name);
      return text === undefined ? [] : [[name, text]];
    }),
  );
  const found: Listed[] = [];
  let next: Record<string, string> | null | undefined = {};
  while (next && found.length < mostInFile) {
    const { reply } = await call.described(list, { ...asked, pagination: 'keyset', per_page: 100, ...next } as never);
    const page = reply as ListPage<Values>;
    found.push(...(page.items as unknown as Listed[]));
    next = page.next;
  }
  return found;
}

const csvPage = (path: string, list: Operation) =>
  filePage(
    path,
    async (call) => ({
      body: csvOf(await eventsOf(call, list)),
      headers: {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="audit_events.csv"',
      },
    }),
    { is_costly: true },
  );

export const auditEventPages = [
  settingsPage('admin', 'audit_logs', [csvLink, listOf('listAuditEvents', entityFilters)]),
  settingsPage('group', 'audit_events', [csvLink, listOf('listGroupAuditEvents')], {
    operation: 'listGroupAuditEvents',
  }),
  settingsPage('project', 'audit_events', [csvLink, listOf('listProjectAuditEvents')], {
    operation: 'listProjectAuditEvents',
  }),
  csvPage('/admin/audit_logs.csv', 'listAuditEvents'),
  csvPage('/groups/:id/-/audit_events.csv', 'listGroupAuditEvents'),
  csvPage('/:id/-/audit_events.csv', 'listProjectAuditEvents'),
];
