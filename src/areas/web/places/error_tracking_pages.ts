/** Error tracking of a project: whether it receives errors, when it tells of them, and the keys of applications. */
import { html } from '../../../pages/index.ts';
import { formOf, settingsPage } from '../declared/definition.ts';
import { formPart, reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { textOf } from '../declared/views.ts';

export const errorTrackingSettingsPage = settingsPage('project', 'error_tracking', [
  formPart('tracking', {
    ...formOf(
      'updateErrorTrackingSettings',
      {
        active: { label: 'Receive errors of applications', help: undefined },
        events_per_minute: { label: 'Events in a minute' },
        alert_events: { label: 'Tell when an error happens so often' },
        alert_users: { label: 'Or to so many users' },
        alert_minutes: { label: 'Within so many minutes' },
      },
      { button: 'Save changes' },
    ),
    reads: reading('getErrorTrackingSettings'),
  }),
  listPart('key', {
    heading: 'Keys of applications',
    intro: 'An application sends its errors to the address of a key (DSN), with any SDK for it.',
    list: 'listErrorTrackingClientKeys',
    names: ({ id }) => ({ key_id: Number(id) }),
    title: 'public_key',
    head: (key) => html`<code>${textOf(key, 'sentry_dsn')}</code>`,
    line: () => undefined,
    empty: 'There are no keys.',
    create: formOf('createErrorTrackingClientKey', {}, { button: 'Create a key', heading: 'New key' }),
    buttons: {
      remove: { runs: 'deleteErrorTrackingClientKey', label: 'Delete', look: 'danger', done: 'The key is deleted.' },
    },
  }),
]);
