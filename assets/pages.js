// Nothing on a page needs this file. It sends forms by Ctrl+Enter and keeps what is typed when a page is left by mistake.
const storage = 'sessionStorage' in window ? window.sessionStorage : undefined;
const keyOf = (field) => `${location.pathname}#${field.id}`;

document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && event.target.form)
    event.target.form.requestSubmit(event.target.form.querySelector('button[name="_do"]'));
});

for (const field of document.querySelectorAll('textarea[id]')) {
  const kept = storage?.getItem(keyOf(field));
  if (kept && field.value === '') field.value = kept;
  field.addEventListener('input', () => storage?.setItem(keyOf(field), field.value));
  field.form?.addEventListener('submit', () => storage?.removeItem(keyOf(field)));
}

document.addEventListener('click', ({ target }) => {
  for (const menu of document.querySelectorAll('details.menu[open]')) if (!menu.contains(target)) menu.open = false;
});

// A link to a comment names no page of its conversation: the comment is on this one or a later one.
const next = document.querySelector('a[rel="next"]');
if (/^#note_\d+$/.test(location.hash) && next && !document.querySelector(location.hash))
  location.replace(next.href + location.hash);

// Addresses that people write leave out the prefix that ids of headings have.
const showHeading = () => {
  if (location.hash === '' || document.querySelector(':target')) return;
  const texts = document.querySelectorAll('[id^="user-content-"]');
  [...texts].find(({ id }) => `#${encodeURI(id)}` === location.hash.replace('#', '#user-content-'))?.scrollIntoView();
};
window.addEventListener('hashchange', showHeading);
showHeading();
