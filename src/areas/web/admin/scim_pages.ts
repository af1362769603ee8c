/** The token with which an identity provider provisions accounts (docs/reference/scim.md). */
import { formOf, settingsPage } from '../declared/definition.ts';
import { formPart } from '../declared/form_present.ts';
import { onceView } from '../declared/views.ts';

export const scimPage = settingsPage(
  'admin',
  'scim',
  [
    formPart(
      'token',
      formOf(
        'createScimToken',
        {},
        {
          heading: 'Token',
          intro: 'A new one ends the one before it.',
          button: 'Make a new token',
          is_sensitive: true,
          shows: (reply, { path }) =>
            onceView(
              'The token of SCIM',
              [
                ['Address', reply.url],
                ['Token', reply.token],
              ],
              path,
            ),
        },
      ),
    ),
    formPart(
      'revoke',
      formOf(
        'deleteScimToken',
        {},
        {
          heading: 'End',
          button: 'Revoke the token',
          look: 'danger',
          is_sensitive: true,
          done: 'The token does not work any more.',
        },
      ),
    ),
  ],
  { intro: 'An identity provider creates accounts, and blocks those of people who leave.' },
);
