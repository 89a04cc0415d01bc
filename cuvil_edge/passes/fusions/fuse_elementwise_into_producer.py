"""fuse_elementwise_into_producer: element-wise work rides in the store of the convolution or product before it."""

from __future__ import annotations

from dataclasses import replace

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph, Node, Value, merged_layers
from cuvil_edge.ir.scalar import Arg, ScalarExpr, dtypes_in, substitute
from cuvil_edge.ops._elementwise import Elementwise
from cuvil_edge.ops._epilogue import EpilogueOp
from cuvil_edge.passes.base import Pass, PassLog, rewrite_nodes, sole_user

_MAX_OPERANDS = 4


class FuseElementwiseIntoProducer(Pass):
    """Bias, activation, residual addition and scaling are applied to the accumulator before it is stored."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph`` until nothing fuses any more."""
        while self._sweep(graph, log):
            graph.remove_dead()

    def _sweep(self, graph: Graph, log: PassLog) -> int:
        log.begin_sweep()
        users = graph.users()

        def rewrite(node: Node, builder: GraphBuilder) -> list[Value] | None:
            if not isinstance(node.op, Elementwise):
                return None
            reasons = []
            for value in reversed(dict.fromkeys(node.operands)):
                producer = value.producer
                if producer is None or not isinstance(producer.op, EpilogueOp) or value not in users:
                    continue  # a value that this sweep made is looked at in the next one
                reason = self._refuse(producer, node, users, graph)
                if reason is None:
                    return self._fuse(producer, producer.op, node, builder, log)
                reasons.append(reason)
            for reason in reasons:
                log.refused(node, reason)
            return None

        return rewrite_nodes(graph, rewrite)

    @staticmethod
    def _refuse(producer: Node, node: Node, users: dict[Value, list[Node]], graph: Graph) -> str | None:
        if producer.output.type != node.output.type:
            return f"its result is not of the type of {producer.name}'s"
        if not dtypes_in(_tree(node)) <= {DType.F32, DType.BOOL} or any(
            v.type.dtype is not DType.F32 for v in node.operands
        ):
            return "it computes in other types than f32"
        if sole_user(producer.output, users, graph) is not node:
            return f"the result of {producer.name} is used elsewhere too"
        operands = len(set(node.operands)) - 1 + max(0, len(producer.inputs) - EpilogueOp.own_inputs)
        if operands > _MAX_OPERANDS:
            return f"the epilogue of {producer.name} would read {operands} tensors"
        return None

    @staticmethod
    def _fuse(producer: Node, op: EpilogueOp, node: Node, builder: GraphBuilder, log: PassLog) -> list[Value]:
        first = op.own_inputs
        inputs = [*producer.inputs, *[None] * (first - len(producer.inputs))]
        args: list[ScalarExpr] = []
        for value in node.operands:
            if value is producer.output:
                args.append(op.epilogue or Arg(0, DType.F32))
                continue
            if value not in inputs[first:]:
                inputs.append(value)
            args.append(Arg(inputs.index(value, first) - first + 1, DType.F32))
        builder.name, builder.layers = producer.name, merged_layers([producer, node])
        log.changed(f"fused into {op.name}")
        return builder.add(replace(op, epilogue=substitute(_tree(node), args)), inputs)


def _tree(node: Node) -> ScalarExpr:
    return node.op_as(Elementwise).expression([value.type.dtype for value in node.operands])
