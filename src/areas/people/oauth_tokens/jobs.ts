/** Background work of OAuth tokens. */
import { job } from '../../../jobs/index.ts';
import { deleteOldTokens } from './actions.ts';

/** Every night: deletes tokens that can no longer be refreshed. */
export const deleteOldOauthTokens = job('delete_old_oauth_tokens', {
  input: {},
  retries: 2,
  schedule: '20 3 * * *',
  run: ({ db }) => deleteOldTokens(db),
});
