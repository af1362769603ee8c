"""What the stories of python_gitlab_walk.py have in common."""

import datetime

import gitlab


def client(place, persona):
    return gitlab.Gitlab(place["url"], private_token=place["people"][persona]["token"])


def day_in(days):
    return (datetime.date.today() + datetime.timedelta(days=days)).isoformat()


def same(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def refused(code, text, call, *args, **kwargs):
    """Calls what must be refused, with this status and this text in the client's words."""
    try:
        call(*args, **kwargs)
    except gitlab.exceptions.GitlabError as error:
        same((error.response_code, error.error_message), (code, text))
        return error
    raise AssertionError(f"{call} was not refused")


def a_project(place, name):
    owner = client(place, "owner")
    made = owner.projects.create({"name": name, "namespace_id": place["group"]["id"], "initialize_with_readme": True})
    return client(place, "maintainer").projects.get(made.id)
