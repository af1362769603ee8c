/** Access to migrations by direct transfer. */
import { signedIn } from '../../../access/index.ts';
import { type Access, ApiError, type Caller } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';

/** Admits every caller with a valid token, while the setting is on. */
export const importer: Access<{ caller: Caller }> = {
  rule: 'signed in, where migrations are on',
  async check(call) {
    const granted = await signedIn.check(call);
    if (!(await settingsOf(call.db)).bulk_import_enabled) throw new ApiError(404, { message: '404 Not Found' });
    return granted;
  },
};
