/** Letting a device without a browser use an account (docs/reference/oauth_tokens.md#devices). */
import { countGuess } from '../../../access/index.ts';
import { ApiError, unprocessable, type Values, withReasons } from '../../../http/index.ts';
import { form, hidden, html, type PageCall, page, type Seen, textIn, type View } from '../../../pages/index.ts';
import { decideDevice, deviceWith, shownCode, userCodeIn } from '../../people/oauth_grants/index.ts';
import { paths } from '../../people/openid/index.ts';
import { registeredBy, scopeList } from './views.ts';

/** How many codes a person may enter, and decide about, in ten minutes. */
const tries = { most: 10, window_s: 600 };

const wrongCode = () =>
  withReasons(unprocessable('The code is wrong, or it has expired.'), { user_code: ['is wrong, or has expired'] });

/**
 * Reads the code that was entered. Codes are short, so that few can be tried.
 * @throws ApiError 422 for what is no code, 429
 */
async function codeIn({ services, caller }: PageCall, fields: Values, name: string): Promise<string> {
  await countGuess(services.db, { name, who: `user:${caller!.id}`, ...tries });
  const code = userCodeIn(textIn(fields, 'user_code') ?? '');
  if (code === undefined) throw wrongCode();
  return code;
}

/** Shows what the device asks for. */
async function show(call: PageCall, fields: Values): Promise<View> {
  const code = await codeIn(call, fields, 'oauth_user_codes');
  const device = await deviceWith(call.services.db, code);
  if (!device) throw wrongCode();
  const { caller, path } = call;
  const seen: Seen = { caller, path, query: {}, may: () => true, refused: undefined };
  return {
    title: [`Authorize ${device.name}`],
    main: html`<p><strong>${device.name}</strong>, which ${registeredBy(device.owner)} has registered, asks to use your account <strong>@${caller!.username}</strong> on a device that shows the code <strong>${shownCode(code)}</strong>. It could:</p>
${scopeList(device.scopes)}
<p>Authorize only a device that you have in front of you, and that shows this code.</p>
${form(seen, 'authorize', {
  fields: [hidden('user_code', code)],
  button: 'Authorize',
  also: { name: 'deny', button: 'Deny' },
})}`,
  };
}

async function decide(call: PageCall, fields: Values, agrees: boolean): Promise<View> {
  const user_code = await codeIn(call, fields, 'oauth_decided_user_codes');
  await decideDevice(call.services, { caller: call.caller!, user_code, agrees }).catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 404 ? wrongCode() : error;
  });
  return {
    title: [agrees ? 'The device is authorized' : 'The device was refused'],
    main: html`<p class="notice" role="status">${agrees ? 'Go back to your device: it goes on in a few seconds.' : 'It cannot use your account.'}</p>`,
  };
}

export const devicePage = page(paths.device, {
  signed_in: true,
  load: async ({ query }) => textIn(query, 'user_code'),
  forms: {
    find: { act: show },
    authorize: { act: (call, fields) => decide(call, fields, true) },
    deny: { act: (call, fields) => decide(call, fields, false) },
  },
  view: (given, seen) => ({
    title: ['Connect a device'],
    main: html`<p>Enter the code that your device shows.</p>
${form(seen, 'find', {
  fields: [{ name: 'user_code', label: 'Code', value: given, is_required: true, autocomplete: 'off', maximum: 20 }],
  button: 'Go on',
})}`,
  }),
});
