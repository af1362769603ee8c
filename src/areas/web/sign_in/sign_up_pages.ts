/** Signing up, while the server lets people create accounts. */
import { notFound } from '../../../http/index.ts';
import { form, html, page, textIn } from '../../../pages/index.ts';
import { signUp, signUpRules } from '../../people/sessions/index.ts';
import { guidelinesOf } from '../house/queries.ts';

const path = '/users/sign_up';

export const signUpPage = page(path, {
  async load(call) {
    const rules = await signUpRules(call.services.db);
    if (!rules.is_open) throw notFound('Page');
    return { ...rules, description: await guidelinesOf(call, 'description') };
  },
  forms: {
    sign_up: {
      anonymous: true,
      async act({ services, device }, fields) {
        const given = (name: string) => textIn(fields, name) ?? '';
        const account = { name: given('name'), username: given('username'), email: given('email') };
        // Spaces belong to a password.
        const password = typeof fields.password === 'string' ? fields.password : '';
        await signUp(services, { ...account, password }, device);
        return `${path}?done=1`;
      },
    },
  },
  view: ({ description, needs_approval }, seen) => ({
    title: ['Create an account'],
    main:
      seen.query.done === undefined
        ? html`${description}${needs_approval && html`<p>An administrator approves each new account before it can be used.</p>`}
${form(seen, 'sign_up', {
  fields: [
    { name: 'name', label: 'Your name', is_required: true, maximum: 255, autocomplete: 'name' },
    { name: 'username', label: 'Username', is_required: true, maximum: 255, autocomplete: 'username' },
    { name: 'email', label: 'Email address', kind: 'email', is_required: true, autocomplete: 'email' },
    {
      name: 'password',
      label: 'Password',
      kind: 'password',
      is_required: true,
      autocomplete: 'new-password',
      help: 'At least 8 characters.',
    },
  ],
  button: 'Create the account',
})}
<p><a href="/users/sign_in">I have an account</a></p>`
        : html`<p class="notice good" role="status">Look into your mail: it has a link to follow.${needs_approval && ' Then an administrator approves the account.'}</p>
<p><a class="button" href="/users/sign_in">Sign in</a></p>`,
  }),
});
