/** The sessions of a visitor. */
import { idIn, notFound } from '../../../http/index.ts';
import { form, html, page, rows, textIn, time } from '../../../pages/index.ts';
import { endSession, endSessions, listSessions } from '../../people/sessions/index.ts';
import { besideMap } from '../declared/definition.ts';

const ownSessionsPage = page('/-/user_settings/active_sessions', {
  signed_in: true,
  load: ({ services, caller }) => listSessions(services.db, caller!.id),
  forms: {
    end: {
      async act({ services, caller, path }, fields) {
        const id = idIn(textIn(fields, 'session_id') ?? '');
        if (id === undefined) throw notFound('Session');
        await endSession(services.db, caller!.id, id);
        return path;
      },
    },
    end_others: {
      async act({ services, caller, path }) {
        await endSessions(services.db, caller!.id, caller!.session.id);
        return path;
      },
    },
  },
  view: (sessions, seen) => ({
    title: ['Sessions'],
    main: html`<p>Where you are signed in. End a session that you do not know, and <a href="/-/user_settings/password/edit">change your password</a>.</p>
${rows(
  sessions.map(({ id, created_at, used_at, address, user_agent }) => {
    const isThis = id === seen.caller!.session.id;
    return html`<strong>${user_agent ?? 'Unknown browser'}</strong>${isThis && ' (this browser)'}
<div class="soft">From ${address ?? 'an unknown address'}, used ${time(used_at)}, since ${time(created_at)}</div>
${
  !isThis &&
  form(seen, 'end', {
    fields: [{ name: 'session_id', label: '', kind: 'hidden', value: id }],
    button: 'End',
    look: 'danger',
    key: id,
  })
}`;
  }),
  '',
)}
<div class="actions">${sessions.length > 1 && form(seen, 'end_others', { button: 'End all others', look: 'danger' })}</div>`,
  }),
});

export const sessionsPage = besideMap('own', 'sessions', ownSessionsPage);
