// Nothing on a page needs this file. It sends forms by Ctrl+Enter and keeps what is typed when a page is left by mistake.
const storage = 'sessionStorage' in window ? window.sessionStorage : undefined;
const keyOf = (field) => `${location.pathname}#${field.id}`;

document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && event.target.form)
    event.target.form.requestSubmit(event.target.form.querySelector('button[name="_do"]'));
});

const keepDrafts = (part) => {
  for (const field of part.querySelectorAll('textarea[id]:not([data-editor])')) {
    const kept = storage?.getItem(keyOf(field));
    if (kept && field.value === '') field.value = kept;
    field.addEventListener('input', () => storage?.setItem(keyOf(field), field.value));
    field.form?.addEventListener('submit', () => storage?.removeItem(keyOf(field)));
  }
};
// With this file, boxes of tasks are saved without their button.
const hideTicks = (part) => {
  for (const form of part.querySelectorAll('form[id^="tick"]')) form.hidden = !form.querySelector('.refusal');
};
keepDrafts(document);
hideTicks(document);

// A part of a page is replaced by the same part of the page that a link or form of it leads to: data-part names what a form changes.
const policy = window.trustedTypes?.createPolicy('coppice', { createHTML: (text) => text });
async function pageAt(address, options) {
  const reply = await fetch(address, { headers: { accept: 'text/html' }, ...options });
  const text = await reply.text();
  return { reply, page: new DOMParser().parseFromString(policy?.createHTML(text) ?? text, 'text/html') };
}
async function replaceParts(names, address, options) {
  const { reply, page } = await pageAt(address, options);
  const pairs = names.map((name) => [document.getElementById(name), page.getElementById(name)]);
  if (reply.status >= 500 || pairs.some(([old, fresh]) => !old || !fresh)) throw new Error(reply.status);
  history.replaceState(null, '', reply.url);
  for (const [old, fresh] of pairs) {
    old.replaceWith(fresh);
    keepDrafts(fresh);
    hideTicks(fresh);
    offerCopies(fresh);
  }
  pairs[0][1].querySelector('form :is(input, select, textarea):not([type="hidden"]), a')?.focus();
}
const isPlain = (event) => !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);

// The form for a comment on a line is read from the page of its file alone, and put below the line.
document.addEventListener('click', async (event) => {
  const link = event.target.closest?.('.diff td > a[href$="#at-line"]');
  if (!link || !isPlain(event)) return;
  event.preventDefault();
  const address = new URL(link.href);
  address.searchParams.set('file', address.searchParams.get('at').split('.')[0]);
  try {
    const { page } = await pageAt(address);
    const row = document.createElement('tr');
    row.className = 'said';
    row.append(document.createElement('td'));
    row.firstChild.colSpan = link.closest('.two') ? 4 : 3;
    row.firstChild.append(page.getElementById('at-line'));
    document.getElementById('at-line')?.closest('tr')?.remove();
    link.closest('tr').after(row);
    keepDrafts(row);
    row.querySelector('textarea').focus();
  } catch {
    location.assign(link.href);
  }
});

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[data-part]');
  const part = link?.closest('[id][data-part]');
  if (!part || !isPlain(event)) return;
  event.preventDefault();
  replaceParts([part.id], link.href).catch(() => location.assign(link.href));
});
document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  const part = form.closest('[id][data-part]');
  if (!part || form.enctype.startsWith('multipart')) return;
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, submitter));
  const isRead = form.method === 'get';
  const address = new URL(form.action);
  if (isRead) address.search = fields;
  const names = isRead ? [part.id] : part.dataset.part.split(' ');
  replaceParts(names, address, isRead ? {} : { method: 'POST', body: fields }).catch(() => location.reload());
});

document.addEventListener('input', ({ target }) => {
  if (!target.matches?.('[data-filter]')) return;
  const asked = target.value.toLowerCase();
  for (const choice of target.closest('dd').querySelectorAll('fieldset label'))
    choice.hidden = !choice.textContent.toLowerCase().includes(asked);
});

for (const field of document.querySelectorAll('[data-editor]'))
  import(field.dataset.editor).then(({ edit }) => edit(field));

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

async function swap(name, address) {
  const fresh = (await pageAt(address)).page.getElementById(name);
  document.getElementById(name).replaceWith(fresh);
  offerCopies(fresh);
  return fresh;
}

// A field that searches while one types: the part that it names is replaced by that of the page that its form leads to.
let typing;
document.addEventListener('input', ({ target }) => {
  const { live } = target.dataset;
  if (!live) return;
  clearTimeout(typing);
  typing = setTimeout(() => {
    const address = new URL(target.form.action);
    address.search = new URLSearchParams(new FormData(target.form));
    swap(live, address);
  }, 150);
});

// A link that shows a part of the page in another way.
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[data-swap]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  swap(link.dataset.swap, link.href)
    .then((fresh) => fresh.querySelector('a')?.focus({ preventScroll: true }))
    .catch(() => location.assign(link.href));
});

function offerCopies(part) {
  for (const button of navigator.clipboard ? part.querySelectorAll('[data-copy]') : []) button.hidden = false;
}
offerCopies(document);
document.addEventListener('click', async ({ target }) => {
  const button = target.closest?.('[data-copy]');
  if (!button) return;
  const { copy } = button.dataset;
  await navigator.clipboard.writeText(copy.startsWith('/') ? location.origin + copy : copy);
  button.classList.add('good');
});

// Keys of single letters do what is marked with them, except while one writes.
document.addEventListener('keydown', (event) => {
  const [target] = event.composedPath();
  if (event.ctrlKey || event.metaKey || event.altKey || target.isContentEditable || target.form !== undefined) return;
  if (document.documentElement.dataset.keys === 'off') return;
  const marked = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!marked) return;
  event.preventDefault();
  if (marked.form) marked.focus();
  else marked.click();
});

// Boxes of tasks are saved when they are ticked, one after the other: each answer says which text the next change is about.
let saving = Promise.resolve();
const saveTicks = async (form) => {
  const button = form.querySelector('button');
  const body = new URLSearchParams(new FormData(form, button));
  const { reply, page } = await pageAt(form.action, { method: 'POST', body });
  const fresh = page.getElementById(form.id);
  if (reply.ok && fresh) form.elements._edited.value = fresh.elements._edited.value;
  else form.requestSubmit(button);
};
document.addEventListener('change', ({ target: { name, form } }) => {
  if (name === 'ticked[]' && form)
    saving = saving.then(() => saveTicks(form)).catch(() => form.requestSubmit(form.querySelector('button')));
});

// Forms that ask for a passkey or security key are sent with its answer.
document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  if (!form.dataset.options || form.elements.answer.value !== '') return;
  event.preventDefault();
  import('./keys.js').then(({ answer }) => answer(form, submitter, pageAt));
});

if (document.querySelector('code.language-mermaid')) import('./diagrams.js');

const board = document.getElementById('board');
if (board) import('./board.js').then(({ drag }) => drag(board, pageAt));

// What helps to write a text is loaded when somebody begins to.
const helped = new WeakSet();
document.addEventListener('focusin', ({ target }) => {
  if (!target.matches?.('textarea.writing') || helped.has(target)) return;
  helped.add(target);
  import('./writing.js').then(({ help }) => help(target, pageAt));
});
