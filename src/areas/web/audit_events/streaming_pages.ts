/** Where the audit events of the server, or of a top-level group, are sent (docs/reference/audit_events.md#streaming). */
import { chip, html } from '../../../pages/index.ts';
import { fieldsOf, formOf, settingsPage } from '../declared/definition.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted, textOf } from '../declared/views.ts';

const fields = fieldsOf({
  destination_url: { label: 'Address' },
  name: {},
  event_type_filters: { label: 'Only events of these names', help: 'Separated by commas; none for all.' },
  active: { label: 'Send events', value: true, help: undefined },
  verification_token: { label: 'Token, which is sent with each event', autocomplete: 'off' },
});

const listsOf = (kind: '' | 'Group') =>
  listPart('stream', {
    list: `list${kind}AuditEventStreamingDestinations`,
    intro: 'Each event is sent to these addresses as it happens.',
    names: ({ id }) => ({ [kind === '' ? 'id' : 'destination_id']: Number(id) }),
    title: 'name',
    line: (stream) =>
      dotted([
        stream.active === true ? undefined : chip('not active', 'alert'),
        textOf(stream, 'destination_url'),
        (stream.event_type_filters as string[]).join(', ') || 'All events',
        (stream.custom_headers as { key: string }[]).map(({ key }) => key).join(', '),
        stream.verification_token !== null && html`token <code>${textOf(stream, 'verification_token')}</code>`,
      ]),
    empty: 'Events are sent nowhere.',
    create: formOf(
      `create${kind}AuditEventStreamingDestination`,
      { ...fields, signing_token: { label: 'Signing key', autocomplete: 'off' } },
      { button: 'Add the address', heading: 'New address' },
    ),
    edit: formOf(`update${kind}AuditEventStreamingDestination`, fields, { button: 'Save' }),
    buttons: {
      header: {
        runs: `update${kind}AuditEventStreamingDestination`,
        label: 'Send with this header alone',
        asks: () => [
          { name: 'custom_headers[0][key]', label: 'Header', is_required: true },
          {
            name: 'custom_headers[0][value]',
            label: 'Value',
            kind: 'password',
            autocomplete: 'new-password',
            is_required: true,
          },
        ],
        done: 'Saved.',
      },
      remove: {
        runs: `delete${kind}AuditEventStreamingDestination`,
        label: 'Delete',
        look: 'danger',
        done: 'Events are no longer sent there.',
      },
    },
  });

export const streamingPages = [
  settingsPage('admin', 'audit_streams', [listsOf('')]),
  settingsPage('group', 'audit_streams', [listsOf('Group')]),
];
