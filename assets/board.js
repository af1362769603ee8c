// Cards of a board are dragged to another place or list: what is sent is the form in the menu of the card, with its new neighbours.
export function drag(board, pageAt) {
  let card;
  let home;
  const cards = [...board.querySelectorAll('li.card:has(form)')];
  const formOf = (each) => each?.querySelector('form');
  for (const each of cards) each.draggable = true;
  board.addEventListener('dragstart', (event) => {
    card = event.target.closest?.('li.card');
    home = { list: card?.parentNode, next: card?.nextSibling };
    event.dataTransfer.effectAllowed = 'move';
  });
  board.addEventListener('dragover', (event) => {
    const list = event.target.closest('section')?.querySelector('[data-list]');
    if (!card || !list) return;
    event.preventDefault();
    const isBelow = (other) => {
      const { top, height } = other.getBoundingClientRect();
      return other !== card && event.clientY < top + height / 2;
    };
    list.insertBefore(card, [...list.children].find(isBelow) ?? null);
  });
  board.addEventListener('drop', (event) => event.preventDefault());
  board.addEventListener('dragend', async (event) => {
    const [moved, { list, next }] = [card, home];
    card = undefined;
    if (event.dataTransfer.dropEffect === 'none') return list.insertBefore(moved, next);
    if (moved.parentNode === list && moved.nextSibling === next) return;
    const form = formOf(moved);
    const body = new URLSearchParams(new FormData(form, form.querySelector('button')));
    body.set('to_list_id', moved.parentNode.dataset.list);
    const ids = [moved.previousElementSibling, moved.nextElementSibling].map(
      (each) => formOf(each)?.elements.issue_id.value,
    );
    // The order of closed issues is that of their creation.
    if (moved.parentNode.dataset.list !== 'closed')
      for (const [index, name] of ['move_after_id', 'move_before_id'].entries())
        if (ids[index]) body.set(name, ids[index]);
    try {
      const { page } = await pageAt(form.action, { method: 'POST', body });
      const fresh = page.getElementById('board');
      board.replaceWith(fresh);
      drag(fresh, pageAt);
    } catch {
      location.reload();
    }
  });
}
