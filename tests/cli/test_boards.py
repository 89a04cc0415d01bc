"""Boards: a table, one in detail, and a hint for a name that is almost right."""

from __future__ import annotations

from cuvil_edge.board.board import board_names


def test_all_boards_are_listed(cli):
    outcome = cli("boards")
    assert outcome.status == 0
    assert [line.split()[0] for line in outcome.out.splitlines()[1:]] == list(board_names())


def test_all_boards_as_json(cli):
    boards = cli("boards", "--json").json["boards"]
    pi5 = next(board for board in boards if board["name"] == "raspberry-pi-5")
    assert pi5["isa"] == "arm64_neondot"
    assert "asimddp" in pi5["required_features"]


def test_one_board_in_detail(cli):
    outcome = cli("boards", "rock-5b")
    assert "cortex_a76" in outcome.out
    assert "cortex_a55" in outcome.out
    assert "CPUs 4-7" in outcome.out


def test_unknown_board_names_the_nearest(cli):
    error = cli("boards", "rasberry-pi-5", "--json").error
    assert 'did you mean "raspberry-pi-5"?' in error["hint"]
