-- Removing a request says itself that its to-dos are done (people/users/request_actions.ts).
drop trigger end_decided_todo on todos;
drop function end_decided_todo();
