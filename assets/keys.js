// Passkeys and security keys. The challenge of a page counts for some minutes, so that a fresh one is read before the browser is asked.
const freshOptions = async (form, pageAt) => {
  try {
    const { page } = await pageAt(location.href);
    return page.getElementById(form.id)?.dataset.options ?? form.dataset.options;
  } catch {
    return form.dataset.options;
  }
};

const say = (form, text) => {
  let shown = form.querySelector('.refusal');
  if (!shown) {
    shown = document.createElement('p');
    shown.className = 'refusal';
    shown.setAttribute('role', 'alert');
    form.prepend(shown);
  }
  shown.textContent = text;
};

/** Asks the browser for a key, and sends the form with its answer. */
export async function answer(form, button, pageAt) {
  const options = JSON.parse(await freshOptions(form, pageAt));
  const { PublicKeyCredential: keys } = window;
  if (!keys?.parseCreationOptionsFromJSON) return say(form, 'This browser cannot use keys.');
  try {
    const credential = await (form.dataset.asks === 'create'
      ? navigator.credentials.create({ publicKey: keys.parseCreationOptionsFromJSON(options) })
      : navigator.credentials.get({ publicKey: keys.parseRequestOptionsFromJSON(options) }));
    form.elements.answer.value = JSON.stringify(credential.toJSON());
    form.requestSubmit(button);
  } catch (error) {
    say(
      form,
      error.name === 'InvalidStateError'
        ? 'This key is registered already.'
        : 'The browser did not get an answer from a key. Try again.',
    );
  }
}
