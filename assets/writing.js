// What helps to write a text: its preview in place, a row of tools, files that are dropped or pasted, and the completion of references.
const base = location.pathname.includes('/-/') ? location.pathname.split('/-/', 1)[0] : undefined;

const insert = (field, start, end, text, from = start + text.length, to = from) => {
  field.setRangeText(text, start, end);
  field.setSelectionRange(from, to);
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.focus();
};
const made = (name, properties) => Object.assign(document.createElement(name), properties);

const surround =
  (mark, after = mark) =>
  (field) => {
    const { selectionStart: start, selectionEnd: end, value } = field;
    const chosen = value.slice(start, end);
    insert(field, start, end, mark + chosen + after, start + mark.length, end + mark.length);
  };
const begin = (mark) => (field) => {
  const { selectionStart, selectionEnd: end, value } = field;
  const start = value.lastIndexOf('\n', selectionStart - 1) + 1;
  const lines = value.slice(start, end).replaceAll(/^/gm, mark);
  insert(field, start, end, lines, start + lines.length);
};
const tools = [
  ['B', 'Bold', surround('**')],
  ['I', 'Italic', surround('_')],
  ['<>', 'Code', surround('`')],
  ['🔗', 'Link', surround('[', '](url)')],
  ['❝', 'Quote', begin('> ')],
  ['•', 'List', begin('- ')],
  ['1.', 'Numbered list', begin('1. ')],
  ['☑', 'Tasks', begin('- [ ] ')],
];

async function upload(field, files, pageAt, status) {
  for (const file of files) {
    const waiting = `![${file.name} is coming…]()`;
    insert(field, field.selectionStart, field.selectionEnd, waiting);
    const body = new FormData();
    body.append('_do', 'upload');
    body.append('file', file);
    const { page } = await pageAt(`${base}/-/uploads/new`, { method: 'POST', body }).catch(() => ({}));
    const text = page?.getElementById('markdown')?.textContent ?? '';
    const at = field.value.indexOf(waiting);
    if (at !== -1) insert(field, at, at + waiting.length, text);
    status.textContent = text
      ? `${file.name} is attached.`
      : (page?.querySelector('.refusal')?.textContent ?? `${file.name} could not be sent.`);
  }
}

// What is completed: a mark at the beginning of a word, with a word behind it, or two words of a title.
const unfinished = /(?:^|[\s(])(?:(@)([\w.-]*)|(:)([\w+-]+)|([#!~%])([\w.-]+(?: [\w.-]+)?))$/;

function complete(field, pageAt, list) {
  let asked = 0;
  let timer;
  const close = () => {
    clearTimeout(timer);
    asked += 1;
    list.hidden = true;
    field.removeAttribute('aria-activedescendant');
  };
  const found = () => {
    const before = field.value.slice(Math.max(0, field.selectionStart - 60), field.selectionStart);
    const [, mark, search] = unfinished.exec(before)?.filter((part) => part !== undefined) ?? [];
    return mark && { mark, search, start: field.selectionStart - search.length - 1 };
  };
  const choose = (option) => {
    const { start } = found() ?? {};
    if (start !== undefined) insert(field, start, field.selectionStart, `${option.dataset.text} `);
    close();
  };
  const mark = (option) => {
    for (const each of list.children) each.ariaSelected = String(each === option);
    field.setAttribute('aria-activedescendant', option.id);
  };
  const show = async () => {
    const now = found();
    if (!now) return close();
    const id = ++asked;
    const { page } = await pageAt(
      `${base}/-/suggestions?${new URLSearchParams({ mark: now.mark, search: now.search })}`,
    );
    if (id !== asked) return;
    const rows = [...(page.getElementById('suggestions')?.querySelectorAll('li') ?? [])];
    if (rows.length === 0) return close();
    list.replaceChildren(
      ...rows.map((row, index) => {
        const option = made('li', { id: `${field.id}-option-${index}`, role: 'option', textContent: row.textContent });
        option.dataset.text = row.querySelector('code').textContent;
        option.addEventListener('mousedown', (event) => {
          event.preventDefault();
          choose(option);
        });
        return option;
      }),
    );
    list.hidden = false;
    mark(list.firstChild);
  };
  field.addEventListener('input', () => {
    clearTimeout(timer);
    if (found()) timer = setTimeout(() => show().catch(close), 80);
    else close();
  });
  field.addEventListener('blur', close);
  field.addEventListener('keydown', (event) => {
    if (list.hidden || event.ctrlKey || event.metaKey) return;
    const options = [...list.children];
    const at = options.findIndex((option) => option.ariaSelected === 'true');
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) mark(options.at((at + step) % options.length));
    else if (event.key === 'Enter' || event.key === 'Tab') choose(options[at]);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

function preview(field, pageAt, button) {
  const id = `${field.id}-preview`;
  button.addEventListener('click', async (event) => {
    event.preventDefault();
    if (field.hidden) {
      document.getElementById(id)?.remove();
      field.hidden = false;
      button.textContent = 'Preview';
      return field.focus();
    }
    const body = new URLSearchParams(new FormData(field.form, button));
    const { page } = await pageAt(field.form.action, { method: 'POST', body });
    const shown = page.getElementById(id);
    if (!shown) return;
    document.getElementById(id)?.remove();
    field.after(shown);
    field.hidden = true;
    button.textContent = 'Write';
  });
}

export function help(field, pageAt) {
  const button = field.form.querySelector('button[name="_preview"]');
  if (button) preview(field, pageAt, button);
  const row = made('div', { className: 'tools', role: 'toolbar', ariaLabel: 'Format' });
  for (const [text, label, use] of tools) {
    const tool = made('button', { type: 'button', textContent: text, title: label, ariaLabel: label });
    tool.addEventListener('click', () => use(field));
    row.append(tool);
  }
  field.before(row);
  if (base === undefined) return;
  const status = made('span', { role: 'status' });
  const files = made('input', { type: 'file', multiple: true, className: 'visually-hidden' });
  files.addEventListener('change', () => upload(field, files.files, pageAt, status).then(() => (files.value = '')));
  const chooser = made('label', { className: 'button', textContent: 'Attach files' });
  chooser.append(files);
  row.append(chooser, status);
  const take = (event, data) => {
    if (!data?.files.length) return;
    event.preventDefault();
    upload(field, data.files, pageAt, status);
  };
  field.addEventListener('paste', (event) => take(event, event.clipboardData));
  field.addEventListener('drop', (event) => take(event, event.dataTransfer));
  const list = made('ul', {
    className: 'completion',
    role: 'listbox',
    hidden: true,
    id: `${field.id}-options`,
    ariaLabel: 'Suggestions',
  });
  field.after(list);
  field.setAttribute('aria-controls', list.id);
  complete(field, pageAt, list);
}
